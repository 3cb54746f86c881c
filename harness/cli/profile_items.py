"""The items that a training is fed with, found or made while a person waits."""

from __future__ import annotations

from harness.cli.trace_options import spinner
from profiler.loading.stored_items import StoredItems
from profiler.measuring.training import Script, Training
from profiler.training.job_items import stored_items


def loaded_items(training: Training) -> StoredItems | None:
    """None of a script, which loads its own. BadInputError where they are not as they should be."""
    if isinstance(training, Script):
        return None
    what = "making items" if training.data is None else f"looking at {training.data}"
    with spinner(what):
        return stored_items(training)
