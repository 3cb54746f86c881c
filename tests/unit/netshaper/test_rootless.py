"""Whether a process is inside, and how the command begins again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from netshaper.rootless import NAMESPACE_VARIABLE, is_rootless, restart_rootless
from netshaper.run_state import STATE_DIRECTORY_VARIABLE, state_root


def inside(monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.readlink("/proc/self/ns/user")  # noqa: PTH115
    monkeypatch.setenv(NAMESPACE_VARIABLE, own)


def test_a_process_is_inside_only_where_the_variable_names_its_own_namespace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(NAMESPACE_VARIABLE, raising=False)
    assert not is_rootless()
    monkeypatch.setenv(NAMESPACE_VARIABLE, "user:[1]")
    assert not is_rootless()
    inside(monkeypatch)
    assert is_rootless()


def test_inside_records_are_where_they_vanish(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(STATE_DIRECTORY_VARIABLE, str(tmp_path))
    assert state_root() == tmp_path
    inside(monkeypatch)
    assert state_root() == Path("/run/roundelay")


def test_the_command_begins_again_with_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[list[str]] = []

    class BegunError(Exception):
        pass

    def begin(_: str, words: list[str]) -> None:
        begun.append(words)
        raise BegunError

    words = ["-X", "dev", "/some/where/roundelay", "run", "a b.yaml", "--rootless"]
    monkeypatch.setattr(sys, "orig_argv", ["python3", *words])
    monkeypatch.setattr("os.execv", begin)
    with pytest.raises(BegunError):
        restart_rootless()
    program = [sys.executable, "-I", "-m", "netshaper.rootless"]
    assert begun == [[*program, sys.executable, *words]]
