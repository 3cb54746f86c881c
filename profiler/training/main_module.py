"""Runs a script in this process as python would."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path


def run_as_main(words: Sequence[str]) -> None:
    """``SCRIPT ARGUMENTS...`` or ``-m MODULE ARGUMENTS...``: with its arguments, the path of
    modules, and the name of the main module. What it raises is raised."""
    if words[0] == "-m":
        sys.argv = list(words[1:])
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(words)
        sys.path[0] = str(Path(words[0]).resolve().parent)
        runpy.run_path(words[0], run_name="__main__")
