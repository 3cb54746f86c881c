"""What is run as the training process. Pure."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import PurePath

from profiler.training.job_specification import JobSpecification

_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_OPTIONS_WITH_A_WORD = ("-W", "-X")


def builtin_command(job: JobSpecification) -> list[str]:
    """Trains a built-in model, by this Python; -P, so that the current directory has no say."""
    return [sys.executable, "-P", "-m", "profiler.training.builtin_job", job.text()]


def script_command(words: Sequence[str]) -> list[str]:
    """A person's own command, so that it is measured.

    ``python [OPTIONS] SCRIPT ...`` and ``python [OPTIONS] -m MODULE ...`` run as they are but for
    what watches them (profiler.training.script_job), by the same Python. Any other command is left
    alone: it is measured if its script has a TrainingIterator.
    """
    place = script_place(words)
    if place is None:
        return list(words)
    return [*words[:place], "-m", "profiler.training.script_job", "--", *words[place:]]


def script_place(words: Sequence[str]) -> int | None:
    """Where in a command of python its script stands, or its ``-m``; None where it has none."""
    if not _PYTHON.fullmatch(PurePath(words[0]).name):
        return None
    place = 1
    while place < len(words) and words[place].startswith("-") and words[place] not in ("-m", "-c"):
        place += 2 if words[place] in _OPTIONS_WITH_A_WORD else 1
    return None if place >= len(words) or words[place] in ("-c", "-") else place
