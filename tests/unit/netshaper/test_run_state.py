"""The record of a run: on disk before the thing itself, whole, and nobody else's."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from netshaper.run_state import (
    ProcessIdentity,
    RunState,
    all_states,
    boot_id,
    load_state,
    new_run_id,
    remove_unfinished_claims,
    state_root,
)
from traces.errors import BadInputError, EmulationError

NO_PROCESS = 2**22 + 1  # above the largest process id of Linux


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROUNDELAY_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def test_the_state_directory_can_be_chosen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert state_root() == root
    monkeypatch.setenv("ROUNDELAY_STATE_DIR", "")
    assert state_root() == Path("/run/roundelay")


def test_a_record_comes_back_as_it_was(root: Path) -> None:
    state = RunState.create("run1")
    state.claim_namespaces(["roundelay-run1-n0-a", "roundelay-run1-n0-b"], existing=set())
    state.claim_cgroup(Path("/sys/fs/cgroup/roundelay-run1"))
    state.claim_process(os.getpid())
    assert load_state(root / "run1") == state
    assert state.boot == boot_id()
    assert state.processes == [state.owner]


def test_everything_is_on_disk_as_soon_as_it_is_claimed(root: Path) -> None:
    state = RunState.create("run1")
    assert load_state(root / "run1").namespaces == []
    state.claim_namespaces(["roundelay-run1-n0-a"], existing=set())
    assert load_state(root / "run1").namespaces == ["roundelay-run1-n0-a"]
    state.release_namespaces(["roundelay-run1-n0-a"])
    assert load_state(root / "run1").namespaces == []


def test_a_run_id_belongs_to_one_run() -> None:
    RunState.create("run1")
    with pytest.raises(EmulationError, match="clean --run run1"):
        RunState.create("run1")
    RunState.create("run2")


@pytest.mark.parametrize("run_id", ["", "abc", "a" * 13, "Run1", "../x", "a/bcd"])
def test_a_bad_run_id_is_refused(root: Path, run_id: str) -> None:
    with pytest.raises(BadInputError, match="is not a run id"):
        RunState.create(run_id)
    assert not root.exists()


def test_a_run_id_with_a_newline_is_refused() -> None:
    with pytest.raises(BadInputError):
        RunState.create("abcd\n")


def test_a_namespace_that_exists_already_is_never_claimed() -> None:
    state = RunState.create("run1")
    with pytest.raises(EmulationError, match="roundelay-run1-n0-a exists already"):
        state.claim_namespaces(
            ["roundelay-run1-n0-a", "roundelay-run1-n0-b"], existing={"roundelay-run1-n0-a"}
        )
    assert state.namespaces == []


@pytest.mark.parametrize("record", [None, "", "{"])
def test_a_directory_without_a_whole_record_owns_nothing(root: Path, record: str | None) -> None:
    (root / "run1").mkdir(parents=True)
    if record is not None:
        (root / "run1" / "record.json").write_text(record)
    state = load_state(root / "run1")
    assert (state.run_id, state.namespaces, state.cgroups, state.processes) == ("run1", [], [], [])
    assert not state.owner.is_alive()
    assert state.boot != boot_id()


def test_all_runs_are_found_by_id_and_strangers_are_not(root: Path) -> None:
    assert list(all_states()) == []
    for name in ("run2", "run1"):
        RunState.create(name)
    (root / "Not-Ours").mkdir()
    (root / "file").touch()
    assert [state.run_id for state in all_states()] == ["run1", "run2"]


def test_a_forgotten_run_leaves_nothing(root: Path) -> None:
    RunState.create("run1").forget()
    assert not root.exists()


def test_a_claim_that_was_killed_halfway_is_removed_and_one_under_way_is_not(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: Path, __: Path) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    pid = os.fork()
    if pid == 0:
        monkeypatch.setattr(Path, "rename", killed)
        try:
            RunState.create("run1")
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
    (left,) = root.iterdir()
    under_way = root / f".run2-{os.getpid()}-abc"
    under_way.mkdir()
    assert list(all_states()) == []
    remove_unfinished_claims()
    assert list(root.iterdir()) == [under_way]
    assert not left.exists()
    under_way.rmdir()
    remove_unfinished_claims()
    assert not root.exists()
    remove_unfinished_claims()


def test_a_process_is_itself_and_no_other() -> None:
    own = ProcessIdentity.of(os.getpid())
    assert own is not None
    assert own.is_alive()
    assert not ProcessIdentity(own.pid, own.start_ticks + 1).is_alive()
    assert ProcessIdentity.of(NO_PROCESS) is None


def test_the_record_is_readable_json(root: Path) -> None:
    RunState.create("run1")
    assert json.loads((root / "run1" / "record.json").read_text())["run_id"] == "run1"


def test_run_ids_are_valid_and_differ() -> None:
    ids = {new_run_id() for _ in range(50)}
    assert len(ids) == 50
    assert all(re.fullmatch("[a-z0-9]{8}", run_id) for run_id in ids)


def test_the_root_stays_while_another_run_is_there(root: Path) -> None:
    first, second = RunState.create("run1"), RunState.create("run2")
    first.forget()
    assert [path.name for path in root.iterdir()] == ["run2"]
    second.forget()
    assert not root.exists()
    assert RunState.create("run3").directory.is_dir()
