"""roundelay profile: what a real training needs, measured. One file a verb."""

from __future__ import annotations

import click

from harness.cli.lazy_group import LazyGroup

VERBS = ("sensitivity", "stalls", "network")
"""Each a command of that name in the module ``profile_`` of that name."""


@click.group(cls=LazyGroup, names=VERBS, prefix="harness.cli.profile_")
def profile() -> None:
    """Run a real training here, and measure what it needs.

    \b
    Example:
      roundelay profile sensitivity --model resnet18 --tiny --device cpu
    """
