"""The command ``roundelay`` inside the guest."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import harness.cli.clean
import harness.cli.emulate
import harness.cli.run  # noqa: F401 - once, before the command is forked
from harness.cli.main import main
from netshaper.rootless import enter_rootless
from netshaper.run_state import STATE_DIRECTORY_VARIABLE

TIMEOUT_S = 120.0
_FORK = multiprocessing.get_context("fork")


class Command:
    """The command in a process of its own, forked: the guest needs ten seconds for its imports.

    rootless: it enters a user namespace first, as ``--rootless`` would after a new start.
    """

    def __init__(
        self, place: Path, name: str, words: Sequence[str], *, rootless: bool = False
    ) -> None:
        self._stdout, self._stderr = place / f"{name}.stdout", place / f"{name}.stderr"
        self._process = _FORK.Process(target=self._main, args=(place / "state", words, rootless))
        self._process.start()

    def _main(self, state: Path, words: Sequence[str], rootless: bool) -> None:
        os.environ[STATE_DIRECTORY_VARIABLE] = str(state)
        for path, descriptor in ((self._stdout, 1), (self._stderr, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), descriptor)
        if rootless:
            enter_rootless()
        sys.argv = ["roundelay", *words]
        main()

    @property
    def pid(self) -> int:
        """Its process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def exit(self) -> int | None:
        """Its exit code, or None while it runs."""
        return self._process.exitcode

    def join(self) -> None:
        """Wait for its end; kill it where it does not come."""
        self._process.join(TIMEOUT_S)
        self.kill()

    def kill(self) -> None:
        """SIGKILL; nothing where it has ended."""
        self._process.kill()
        self._process.join()

    def said(self) -> str:
        """The end of its standard error."""
        return self._stderr.read_text()[-2000:] if self._stderr.exists() else ""

    def printed(self) -> Any:
        """The JSON document on its standard output, where it ended well."""
        return json.loads(self._stdout.read_text()) if self.exit == 0 else None
