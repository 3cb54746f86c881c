"""A run without root: as good, the caller's own, and gone without a trace however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from emulator.kernel_features import traffic_control
from tests.kernel.command import ROUNDELAY, short_example, wait_until
from tests.kernel.command_job import BYTES, TRAINING
from tests.kernel.machine import cgroups, host_links, leftovers, namespaces, processes
from tests.kernel.unprivileged import (
    USER,
    as_user,
    directory_of_user,
    environment_of_user,
    why_not,
)

RUN_ID = "t3strootless"
NOTHING: dict[str, object] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}


@pytest.fixture(scope="module", autouse=True)
def _user_can_read_the_command() -> None:
    reason = why_not(ROUNDELAY, "--version")
    if reason is not None:
        pytest.skip(f"another user cannot run {ROUNDELAY}: {reason}")


@pytest.fixture
def home() -> Iterator[Path]:
    with directory_of_user() as directory:
        yield directory


def rootless(home: Path, *words: str | Path, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        as_user(ROUNDELAY, *words, "--rootless"),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=home,
        env=environment_of_user(home, **changes),
    )


def start_rootless(home: Path, *words: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        as_user(ROUNDELAY, *words, "--rootless"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env=environment_of_user(home),
    )


def _network(pid: int | str) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/net")  # noqa: PTH115
    except OSError:
        return None


def _workers(run: subprocess.Popen[str], state_directory: Path) -> list[int]:
    """Processes of the run that are in an emulated server's namespace."""
    outside = {_network(run.pid), _network("self"), None}
    others = [pid for pid in processes(str(state_directory)) if pid != run.pid]
    return [pid for pid in others if _network(pid) not in outside]


def assert_nothing_is_left(state_directory: Path) -> None:
    assert leftovers(RUN_ID, state_directory) == NOTHING
    assert not state_directory.exists()


def owners(directory: Path) -> set[tuple[int, int]]:
    return {(p.stat().st_uid, p.stat().st_gid) for p in (directory, *directory.rglob("*"))}


def test_a_run_of_a_user_is_whole_and_the_users_own(home: Path, state_directory: Path) -> None:
    scenario = short_example(home, iterations=6)
    links = host_links()
    output = home / "out"
    done = rootless(home, "run", scenario, "-o", output, "--json", "--run-id", RUN_ID)
    assert done.returncode == 0, done.stderr
    for arm in json.loads(done.stdout)["arms"]:
        assert arm["verdict"]["status"] in ("valid", "suspect"), done.stderr  # the box may be busy
        assert ["no cgroups" in each for each in arm["verdict"]["unenforced"]] == [True]
        if arm["verdict"]["status"] == "valid":
            assert abs(arm["difference"]["mean"]) <= 0.1, arm["name"]
    assert done.stderr.count("not enforced: servers have no cgroups") == 1
    assert "Not enforced: servers have no cgroups" in (output / "report.html").read_text()
    assert owners(output) == {(USER, USER)}
    assert host_links() == links
    assert_nothing_is_left(state_directory)


def test_what_a_users_own_program_sends_is_found_and_what_it_wrote_kept(
    home: Path, state_directory: Path
) -> None:
    pytest.importorskip("scapy")
    (home / "train.py").write_text(TRAINING)
    output = home / "out"
    done = subprocess.run(
        as_user(
            *(ROUNDELAY, "profile", "network", "--hosts", "2", "--rootless", "--iterations", "15"),
            *("-o", output, "--run-id", RUN_ID, "--json"),
            *("--", ROUNDELAY.with_name("python"), "train.py"),
        ),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=home,
        env=environment_of_user(home),
    )
    assert done.returncode == 0, done.stderr
    (link,) = json.loads(done.stdout)["links"]
    assert link["verdict"] in ("valid", "suspect"), done.stderr  # the box may be busy
    for host in link["hosts"]:
        assert host["counted_bytes"] == pytest.approx(BYTES, rel=0.02)
    logs = [output / "200Mbitps" / f"job.server{rank}.log" for rank in range(2)]
    for rank, log in enumerate(logs):
        assert log.read_text().startswith(f"rank {rank} is done\n")
    assert owners(output) == {(USER, USER)}
    assert_nothing_is_left(state_directory)


def test_nothing_is_left_after_a_kill(home: Path, state_directory: Path) -> None:
    scenario = short_example(home, iterations=100)
    run = start_rootless(home, "emulate", scenario, "-o", home / "out", "--run-id", RUN_ID)
    workers = wait_until(lambda: _workers(run, state_directory), "the run to emulate")
    assert _network(run.pid) != _network("self")
    assert namespaces(RUN_ID) == []
    assert cgroups(RUN_ID) == []
    run.kill()
    run.communicate()
    wait_until(lambda: not processes(str(state_directory)), "the workers to end", timeout_s=5)
    wait_until(lambda: not any(map(_network, workers)), "their namespaces to be free", timeout_s=5)
    assert_nothing_is_left(state_directory)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_measured(
    home: Path, state_directory: Path, number: signal.Signals
) -> None:
    scenario = short_example(home, iterations=100)
    output = home / "out"
    run = start_rootless(home, "emulate", scenario, "-o", output, "--run-id", RUN_ID, "--json")
    wait_until(lambda: _workers(run, state_directory), "the run to emulate")
    run.send_signal(number)
    printed, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    assert json.loads(printed)["interrupted"] is True
    assert owners(output) == {(USER, USER)}
    assert_nothing_is_left(state_directory)


def test_a_run_id_in_use_outside_is_free_inside(home: Path) -> None:
    taken = f"roundelay-{RUN_ID}-n0-left0"
    subprocess.run(("ip", "netns", "add", taken), check=True)
    try:
        scenario = short_example(home, iterations=2)
        done = rootless(home, "emulate", scenario, "-o", home / "out", "--run-id", RUN_ID)
        assert done.returncode == 0, done.stderr
        assert namespaces(RUN_ID) == [taken]
    finally:
        subprocess.run(("ip", "netns", "delete", taken), check=True)


def test_root_behind_sudo_may_run_it_too_and_the_results_are_the_callers(
    home: Path, state_directory: Path
) -> None:
    scenario = short_example(home, iterations=2)
    output = home / "out"
    # The mount namespace of a user's command, that the interpreter can be read, but as root.
    command = as_user(ROUNDELAY, "emulate", scenario, "-o", output, "--rootless")
    as_root = [word for word in command if not word.startswith(("--reuid", "--regid", "--clear"))]
    sudo = {"SUDO_UID": str(USER), "SUDO_GID": str(USER)}
    done = subprocess.run(
        as_root, capture_output=True, text=True, check=False, env={**os.environ, **sudo}
    )
    assert done.returncode == 0, done.stderr
    assert owners(output) == {(USER, USER)}
    assert_nothing_is_left(state_directory)


def test_root_itself_makes_no_cgroup_in_it(tmp_path: Path, state_directory: Path) -> None:
    scenario = short_example(tmp_path, iterations=2)
    words = ("emulate", scenario, "-o", tmp_path / "out", "--rootless", "--json")
    environment = {name: value for name, value in os.environ.items() if "SUDO" not in name}
    done = subprocess.run(
        [str(ROUNDELAY), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert all(arm["verdict"]["unenforced"] for arm in json.loads(done.stdout)["arms"])
    assert_nothing_is_left(state_directory)


def test_all_else_in_run_stays_in_its_place(home: Path) -> None:
    """Also where nobody ever named a namespace, and /run/netns is not there."""
    looks = (
        "import os, netshaper.rootless as r; r.enter_rootless(); "
        "print(sorted(os.listdir('/run')), open('/run/disk/kept').read(), os.listdir('/run/netns'))"
    )
    inner = as_user(ROUNDELAY.with_name("python"), "-I", "-c", looks)
    lays = (
        "mount --no-mtab -t tmpfs -o mode=755 tmpfs /run; mkdir /run/disk; "
        "mount --no-mtab -t tmpfs -o mode=755 tmpfs /run/disk; echo -n here > /run/disk/kept; "
        'ln -s disk /run/link; touch /run/file; exec "$@"'
    )
    done = subprocess.run(
        ("unshare", "--mount", "sh", "-ec", lays, "sh", *inner),
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['disk', 'file', 'link', 'netns', 'roundelay'] here []"


def test_where_user_namespaces_are_forbidden_the_setting_is_named(home: Path) -> None:
    """The limit is set in a user namespace of the test's own, and holds there alone."""
    scenario = short_example(home)
    forbids = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    command = [str(ROUNDELAY), "run", str(scenario), "-o", str(home / "out"), "--rootless"]
    done = subprocess.run(
        ("unshare", "--user", "--map-root-user", "sh", "-ec", forbids, "sh", *command),
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if "SUDO" not in name},
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1
    assert "user namespaces are not allowed here" in done.stderr
    assert "sysctl -w user.max_user_namespaces=" in done.stderr
    assert not (home / "out").exists()


def test_doctor_says_that_it_works_for_a_user(home: Path) -> None:
    done = subprocess.run(
        as_user(ROUNDELAY, "doctor", "--json"),
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
        env=environment_of_user(home),
    )
    assert done.returncode == 0, done.stderr
    findings = {each["name"]: each for each in json.loads(done.stdout)["findings"]}
    assert findings["rootless runs"]["ok"]
    assert not findings["privileges"]["ok"]
    assert not findings["privileges"]["needed"]


def test_a_threshold_that_nothing_can_keep_is_said_and_its_marks_are_unknown(
    home: Path, state_directory: Path
) -> None:
    features = traffic_control()
    assert features is not None
    if features["red"]:
        pytest.skip("this kernel has red, which needs no root")
    scenario = short_example(home, iterations=2)
    scenario.write_text(scenario.read_text() + "transport: {ecn_threshold: 20 kB}\n")
    output = home / "out"
    done = rootless(home, "emulate", scenario, "-o", output, "--json", "--run-id", RUN_ID)
    assert done.returncode == 0, done.stderr
    for arm in json.loads(done.stdout)["arms"]:
        _, clause = arm["verdict"]["unenforced"]
        assert clause.startswith("packets are not marked above ecn_threshold")
        assert arm["marked_packets"] is None
    assert pd.read_parquet(output / "links.parquet")["marked_packets"].isna().all()
    assert "nothing could mark packets above 20 kB" in (output / "report.html").read_text()
    assert_nothing_is_left(state_directory)
