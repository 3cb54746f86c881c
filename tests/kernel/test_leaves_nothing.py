"""Whatever happens to a run, what it made is gone or can be removed, and nothing else is."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.cgroups import holding_hierarchy, own_hierarchies
from netshaper.run_state import ProcessIdentity
from tests.kernel.command import roundelay, short_example, start, wait_until
from tests.kernel.machine import cgroups, host_links, leftovers, namespaces, processes

RUN_ID = "t3stkill"
NOTHING = {"namespaces": [], "cgroups": [], "processes": [], "files": []}


def _is_emulating(run_id: str) -> bool:
    """Whether a worker of the run has joined its cgroup: the run is in its middle."""
    workers = [path for path in cgroups("left0") if run_id in str(path)]
    return any((path / "cgroup.procs").read_text().strip() for path in workers if path.exists())


@pytest.fixture
def strangers() -> Iterator[dict[str, object]]:
    """A namespace, a cgroup with a process, and a veth pair with names much like a run's."""
    namespace = f"roundelay-{RUN_ID}x-n0-left0"
    hierarchy = holding_hierarchy(own_hierarchies())
    assert hierarchy is not None
    cgroup = hierarchy.own_group / f"roundelay-{RUN_ID}x"
    subprocess.run(("ip", "netns", "add", namespace), check=True)
    subprocess.run(
        ("ip", "link", "add", "rl-eth0", "type", "veth", "peer", "name", "rl-eth1"), check=True
    )
    cgroup.mkdir()
    process = subprocess.Popen(("sleep", "600"), env={})  # knows nothing of the state directory
    (cgroup / "cgroup.procs").write_text(str(process.pid))
    yield {"namespace": namespace, "cgroup": cgroup, "process": process}
    process.kill()
    process.wait()
    with contextlib.suppress(FileNotFoundError):
        cgroup.rmdir()
    subprocess.run(("ip", "link", "delete", "rl-eth0"), check=True)
    subprocess.run(("ip", "netns", "delete", namespace), check=True)


def test_clean_after_kill_removes_the_run_and_nothing_else(
    tmp_path: Path, state_directory: Path, strangers: dict[str, object]
) -> None:
    links_before = host_links()
    scenario = short_example(tmp_path, iterations=100)
    run = start("run", scenario, "-o", tmp_path / "out", "--run-id", RUN_ID)
    wait_until(lambda: _is_emulating(RUN_ID), "the run to emulate")
    run.kill()
    run.communicate()
    assert namespaces(f"{RUN_ID}-"), "the kill left nothing to clean: it came too early or too late"

    dry = roundelay("clean", "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    assert json.loads(dry.stdout)["runs"][0]["namespaces"]
    assert namespaces(f"{RUN_ID}-")

    done = roundelay("clean")
    assert done.returncode == 0, done.stderr
    assert namespaces(f"{RUN_ID}-") == []
    assert [path for path in cgroups(RUN_ID) if path != strangers["cgroup"]] == []
    assert processes(str(state_directory)) == []
    assert not state_directory.exists()
    assert host_links() == links_before
    assert strangers["namespace"] in namespaces(RUN_ID)
    assert strangers["cgroup"] in cgroups(RUN_ID)
    process = strangers["process"]
    assert isinstance(process, subprocess.Popen)
    assert process.poll() is None


def test_workers_end_by_themselves_when_the_controller_is_killed(
    tmp_path: Path, state_directory: Path
) -> None:
    scenario = short_example(tmp_path, iterations=100)
    run = start("run", scenario, "-o", tmp_path / "out", "--run-id", RUN_ID)
    wait_until(lambda: _is_emulating(RUN_ID), "the run to emulate")
    assert processes(str(state_directory))
    run.kill()
    run.communicate()
    wait_until(lambda: not processes(str(state_directory)), "the workers to end", timeout_s=5)
    assert roundelay("clean", "--run", RUN_ID).returncode == 0
    assert leftovers(RUN_ID, state_directory) == NOTHING


def test_clean_leaves_a_run_alone_that_goes_on(tmp_path: Path, state_directory: Path) -> None:
    scenario = short_example(tmp_path, iterations=100)
    run = start("run", scenario, "-o", tmp_path / "out", "--run-id", RUN_ID)
    wait_until(lambda: _is_emulating(RUN_ID), "the run to emulate")
    refused = roundelay("clean", "--run", RUN_ID)
    assert refused.returncode == 1
    assert "still going on" in refused.stderr
    assert json.loads(roundelay("clean", "--json").stdout)["going_on"] == [RUN_ID]
    assert run.poll() is None
    assert _is_emulating(RUN_ID)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_measured_and_cleans_up(
    tmp_path: Path, state_directory: Path, number: signal.Signals
) -> None:
    scenario = short_example(tmp_path, iterations=60)
    output = tmp_path / "out"
    run = start("run", scenario, "-o", output, "--run-id", RUN_ID, "--json")
    wait_until(lambda: _is_emulating(RUN_ID), "the run to emulate")
    wait_until(lambda: _iterations_begun(state_directory), "the first iterations")
    run.send_signal(number)
    printed, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    summary = json.loads(printed)
    assert summary["interrupted"] is True
    first = summary["arms"][0]
    assert first["interrupted"] is True
    assert first["verdict"]["status"] == "suspect"
    # A disturbed box may fail others besides.
    failed = [i["name"] for i in first["verdict"]["invariants"] if not i["ok"]]
    assert "completeness" in failed
    assert summary["arms"][-1]["measured"] is None
    assert summary["arms"][-1]["predicted"] is not None
    assert (output / "report.html").exists()
    assert (output / "emulated" / "iterations.parquet").exists()
    assert leftovers(RUN_ID, state_directory) == NOTHING


def _iterations_begun(state_directory: Path) -> bool:
    """Whether the workers have used some CPU time since they were forked: they iterate."""
    found = processes(str(state_directory))
    ticks = 0
    for pid in found:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks > 200


def test_a_worker_that_dies_ends_the_run_with_one_line(
    tmp_path: Path, state_directory: Path
) -> None:
    scenario = short_example(tmp_path, iterations=100)
    run = start("run", scenario, "-o", tmp_path / "out", "--run-id", RUN_ID)
    wait_until(lambda: _is_emulating(RUN_ID), "the run to emulate")
    group = next(path for path in cgroups("left0") if RUN_ID in str(path))
    victim = int((group / "cgroup.procs").read_text().split()[0])
    assert ProcessIdentity.of(victim) is not None
    os.kill(victim, signal.SIGKILL)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1
    assert "a worker" in said.strip().splitlines()[-1]
    assert "Traceback" not in said
    assert leftovers(RUN_ID, state_directory) == NOTHING


def test_two_runs_at_once_do_not_disturb_each_others_names(
    tmp_path: Path, state_directory: Path
) -> None:
    scenario = short_example(tmp_path, iterations=4)
    ids = ("t3strun1", "t3strun2")
    runs = [start("run", scenario, "-o", tmp_path / name, "--run-id", name) for name in ids]
    for name in ids:
        wait_until(lambda name=name: namespaces(name), f"the namespaces of {name}")
    for run in runs:
        _, said = run.communicate(timeout=120)
        assert run.returncode == 0, said
    for name in ids:
        assert leftovers(name, state_directory) == NOTHING


def test_a_run_id_in_use_is_refused(tmp_path: Path, state_directory: Path) -> None:
    scenario = short_example(tmp_path, iterations=100)
    run = start("run", scenario, "-o", tmp_path / "one", "--run-id", RUN_ID)
    wait_until(lambda: _is_emulating(RUN_ID), "the run to emulate")
    second = roundelay("run", scenario, "-o", tmp_path / "two", "--run-id", RUN_ID)
    assert second.returncode == 1
    assert "in use" in second.stderr
    assert _is_emulating(RUN_ID)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert leftovers(RUN_ID, state_directory) == NOTHING


def test_a_namespace_of_somebody_else_is_not_taken_over(
    tmp_path: Path, state_directory: Path
) -> None:
    taken = f"roundelay-{RUN_ID}-n0-left0"
    subprocess.run(("ip", "netns", "add", taken), check=True)
    try:
        scenario = short_example(tmp_path)
        done = roundelay("run", scenario, "-o", tmp_path / "out", "--run-id", RUN_ID)
        assert done.returncode == 1
        assert f"{taken} exists already" in done.stderr
        assert namespaces(RUN_ID) == [taken]
    finally:
        subprocess.run(("ip", "netns", "delete", taken), check=True)
