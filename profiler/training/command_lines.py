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
    """Trains a built-in model, by this Python."""
    return [sys.executable, "-m", "profiler.training.builtin_job", job.text()]


def script_command(words: Sequence[str]) -> list[str]:
    """A person's own command, so that it is measured.

    ``python [OPTIONS] SCRIPT ...`` and ``python [OPTIONS] -m MODULE ...`` run as they are but for
    what watches them (profiler.training.script_job), by the same Python. Any other command is left
    alone: it is measured if its script has a TrainingIterator.
    """
    if not _PYTHON.fullmatch(PurePath(words[0]).name):
        return list(words)
    place = 1
    while place < len(words) and words[place].startswith("-") and words[place] not in ("-m", "-c"):
        place += 2 if words[place] in _OPTIONS_WITH_A_WORD else 1
    if place >= len(words) or words[place] in ("-c", "-"):
        return list(words)
    job = ["-m", "profiler.training.script_job", "--"]
    return [*words[:place], *job, *words[place:]]
