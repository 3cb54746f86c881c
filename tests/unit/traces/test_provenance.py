"""Where a result comes from: hashes, versions, machine."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

from traces.provenance import provenance


def test_the_input_is_hashed_and_the_seed_kept() -> None:
    document = provenance("name: é\n", 7, "abcd")
    assert document["scenario_sha256"] == hashlib.sha256("name: é\n".encode()).hexdigest()
    assert (document["seed"], document["run_id"]) == (7, "abcd")
    assert provenance("other", 7)["scenario_sha256"] != document["scenario_sha256"]
    assert provenance("other", 7)["run_id"] is None


def test_versions_and_machine_are_there_and_json_can_carry_them() -> None:
    document: Any = json.loads(json.dumps(provenance("x", 1)))
    assert document["versions"]["python"] == platform.python_version()
    assert document["versions"]["roundelay"]
    assert document["machine"]["kernel"] == platform.release()
    assert document["machine"]["cores"] >= 1
    assert document["machine"]["memory_bytes"] > 2**20
    assert document["finished_utc"].endswith("+00:00")


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("ip utility, iproute2-6.1.0, libbpf 1.1.0\n", "6.1.0"),
        ("ip utility, iproute2-ss200127\n", "ss200127"),
        ("something else\n", "something else"),
    ],
)
def test_the_version_of_iproute2_is_what_it_says(
    monkeypatch: pytest.MonkeyPatch, said: str, version: str
) -> None:
    def fake_run(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess((), 0, stdout=said)

    monkeypatch.setattr(subprocess, "run", fake_run)
    document: Any = provenance("x", 1)
    assert document["versions"]["iproute2"] == version


def test_a_machine_without_iproute2_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    document: Any = provenance("x", 1)
    assert document["versions"]["iproute2"] is None
