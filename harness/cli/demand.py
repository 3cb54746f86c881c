"""roundelay demand: import, fit, draw and compare the network demands of models."""

from __future__ import annotations

import click

from harness.cli.demand_import import import_
from harness.cli.lazy_group import LazyGroup


@click.group(cls=LazyGroup, names=("fit", "show", "compat"), prefix="harness.cli.demand_")
def demand() -> None:
    """What one iteration of a model puts on the network.

    \b
    Example:
      roundelay demand import kineto trace.json.gz -o resnet50.json
    """


demand.add_command(import_)
