"""Which program a user's command starts, and what to do where its interpreter lacks a module."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

_LACKING = re.compile(r"No module named '?(\w+)")
_OF_ROUNDELAY = ("emulator", "profiler", "torch")


def search_path(environment: Mapping[str, str]) -> str:
    """PATH of a command: the caller's, and last what is installed beside Roundelay: sudo's own PATH
    leads into no virtual environment."""
    return os.pathsep.join((environment.get("PATH", os.defpath), str(Path(sys.executable).parent)))


def find_program(name: str, path: str) -> str:
    """Where PATH leads for ``name``; ``name`` itself where it leads nowhere."""
    return shutil.which(name, path=path) or name


def program_words(name: str, place: str) -> str:
    """The program as errors name it: with the place where it was found."""
    return f"{name!r}" if place == name else f"{name!r} ({place})"


def remedy(last_line: str, place: str) -> str:
    """What to do about it, as the end of a sentence on the program at ``place`` that ended with
    this line; empty where none is known."""
    lacking = _LACKING.search(last_line)
    if lacking is None:
        return ""
    package = "'roundelay[real]'" if lacking[1] in _OF_ROUNDELAY else lacking[1]
    own = Path(sys.executable)
    if Path(place).parent == own.parent:
        return f"; pip install {package}"
    return f"; pip install {package} for it, or let the command name {own}, Roundelay's own"
