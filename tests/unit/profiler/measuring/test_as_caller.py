"""Behind sudo, a training has the rights of the user who called."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from profiler.measuring.as_caller import as_caller
from traces.errors import MissingCapabilityError

NOBODY = "65534"


def test_without_sudo_a_command_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    assert as_caller(["train", "--fast"]) == ("train", "--fast")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_behind_sudo_it_runs_as_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", NOBODY)
    monkeypatch.setenv("SUDO_GID", NOBODY)
    words = as_caller(["id", "-u"])
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == f"{NOBODY}\n"


def test_where_rights_cannot_be_given_up_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUDO_UID", NOBODY)
    monkeypatch.setenv("SUDO_GID", NOBODY)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(MissingCapabilityError, match="setpriv"):
        as_caller(["train"])
