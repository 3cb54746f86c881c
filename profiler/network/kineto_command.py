"""A command that follows a person's script by torch.profiler, in place of that which runs it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from profiler.training.command_lines import script_place
from traces.errors import BadInputError, MissingCapabilityError

_FOLLOWER = "profiler.network.kineto_script"
_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch")
_TORCHRUN = re.compile(r"torchrun(-\d+(\.\d+)*)?")
_ALLOWED = "python SCRIPT, python -m MODULE or torchrun SCRIPT"


def followed(words: Sequence[str]) -> tuple[str, ...]:
    """``words``, so that their script runs in ``profiler.network.kineto_script``.

    Raises BadInputError where they run no script of Python that could be followed.
    """
    if _TORCHRUN.fullmatch(PurePath(words[0]).name):
        return _launched(words, 1)
    place = script_place(words)
    if place is None:
        raise BadInputError(f"{words[0]!r} is not python", allowed=_ALLOWED, key="--kineto")
    if words[place] == "-m" and words[place + 1 : place + 2] and words[place + 1] in _LAUNCHERS:
        return _launched(words, place + 2)
    return (*words[:place], "-m", _FOLLOWER, *words[place:])


def _launched(words: Sequence[str], options: int) -> tuple[str, ...]:
    """The launcher's own options begin at ``options``."""
    try:
        from torch.distributed.run import get_args_parser  # torch takes seconds to import
    except ImportError:
        raise MissingCapabilityError(
            "to follow a script that torchrun starts needs torch here",
            remedy="pip install 'roundelay[real]'",
        ) from None
    try:
        given = get_args_parser().parse_args(words[options:])
    except SystemExit:  # it has said why
        raise BadInputError(
            "torchrun does not take these words", allowed=_ALLOWED, key="--kineto"
        ) from None
    if given.no_python:
        raise BadInputError("--no-python runs no script", allowed=_ALLOWED, key="--kineto")
    script = len(words) - len(given.training_script_args) - 1
    module = ("-m",) if given.module else ()
    start = words[: script - len(module)] if given.module else words[:script]
    return (*start, "-m", _FOLLOWER, *module, *words[script:])
