"""The items that a training is fed with, found or made while a person waits."""

from __future__ import annotations

from harness.cli.trace_options import spinner
from profiler.loading.stored_items import StoredItems
from profiler.measuring.training import Script, Training, command_of
from profiler.training.job_items import stored_items


def loaded_items(training: Training) -> StoredItems | None:
    """None of a script, which loads its own. BadInputError where they are not as they should be,
    MissingCapabilityError where they cannot be trained on."""
    if isinstance(training, Script):
        return None
    command_of(training)  # before what takes long
    what = "making items" if training.data is None else f"looking at {training.data}"
    with spinner(what):
        return stored_items(training)
