"""Bring-up that is killed, or fails, at any step leaves nothing after ``clean``.

The plan has two jobs on two servers and a switch whose ports mark; a step is a command of it. It is
killed after each; it fails at each up to the last of the first port, since the other ports have the
same words, and at the very last.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import emulator.session
from emulator.cgroups import join_group
from emulator.clean import clean_run
from emulator.session import Session
from netshaper.apply import run_commands
from netshaper.disciplines import JobTraffic
from netshaper.ecn.loader import attach_markers
from netshaper.plan import Command, NetworkPlan, plan_network
from netshaper.run_state import RunState, all_states, load_state
from tests.kernel.command import wait_until
from tests.kernel.machine import host_links, leftovers, namespaces
from traces.cluster import Cluster, Link, Sharing
from traces.errors import EmulationError

RUN_ID = "t3ststep"
NOTHING: dict[str, object] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}
ECN_THRESHOLD_BYTES = 200_000


def _plan(servers: tuple[str, ...] = ("a", "b")) -> NetworkPlan:
    links = tuple(Link(server, "switch", 1e9) for server in servers)
    cluster = Cluster(servers, ("switch",), links, Sharing.FAIR)
    jobs = [JobTraffic("one"), JobTraffic("two")]
    return plan_network(RUN_ID, "n0", cluster, jobs, 1.0, 4, ECN_THRESHOLD_BYTES)


PLAN = _plan()


def _failing_steps() -> list[int]:
    """Indices of the commands that are made to fail."""
    commands = PLAN.commands
    first = next(index for index, command in enumerate(commands) if command.tool == "tc")
    end = first
    while commands[end].namespace == commands[first].namespace:
        end += 1
    return [*range(end), len(commands) - 1]


class _Sleeper:
    """Stands in for the fork server: a process of the run that does not end by itself."""

    def __init__(self, state: RunState, kinds: Sequence[str]) -> None:
        del kinds
        group = Path(state.cgroups[0]) if state.cgroups else None
        self._process = subprocess.Popen(
            ("sleep", "600"), preexec_fn=None if group is None else lambda: join_group(group)
        )
        state.claim_process(self._process.pid)

    def close(self) -> None:
        """End it as the real one ends."""
        self._process.kill()
        self._process.wait()


@pytest.fixture(autouse=True)
def light_session(state_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Starting the real fork server a hundred times would be most of the time."""
    monkeypatch.setattr(emulator.session, "ForkServer", _Sleeper)
    yield
    for state in all_states():  # of a test that failed
        clean_run(state)


def _in_child(act: Callable[[], None]) -> int:
    """Id of a new process that does ``act`` and is not to come to its end."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


def _end_of(pid: int) -> int:
    """The signal that ended the child ``pid``."""
    _, status = os.waitpid(pid, 0)
    assert os.WIFSIGNALED(status), "the child came to its end; see what it printed"
    return os.WTERMSIG(status)


def _kill_self() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _build_and_be_killed(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Bring the network up as a run does, with a kill after the command ``step``."""

    def build(plan: NetworkPlan) -> None:
        run_commands(plan.commands[: step + 1])
        _kill_self()

    monkeypatch.setattr(emulator.session, "build", build)
    Session(RUN_ID).build_network(PLAN)


def _build_and_be_killed_with_markers(monkeypatch: pytest.MonkeyPatch) -> None:
    def attach(plan: NetworkPlan) -> None:
        attach_markers(plan)
        _kill_self()

    monkeypatch.setattr(emulator.session, "attach_markers", attach)
    Session(RUN_ID).build_network(PLAN)


def _clean(state_directory: Path) -> None:
    """``roundelay clean`` without its interpreter: from the record alone."""
    state = load_state(state_directory / RUN_ID)
    assert not state.owner.is_alive()
    assert clean_run(state).processes, "the run's process should have outlived it"


def test_a_kill_after_any_command_leaves_nothing_after_clean(
    state_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links_before = host_links()
    assert leftovers(RUN_ID, state_directory) == NOTHING
    for step in range(len(PLAN.commands)):
        command = str(PLAN.commands[step])
        with monkeypatch.context() as patch:
            pid = _in_child(functools.partial(_build_and_be_killed, patch, step))
            assert _end_of(pid) == signal.SIGKILL
        assert namespaces(f"{RUN_ID}-"), command
        _clean(state_directory)
        assert leftovers(RUN_ID, state_directory) == NOTHING, command
        assert host_links() == links_before, command
        assert not state_directory.exists(), command


def test_a_kill_after_the_markers_leaves_nothing_after_clean(
    state_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = _in_child(lambda: _build_and_be_killed_with_markers(monkeypatch))
    assert _end_of(pid) == signal.SIGKILL
    _clean(state_directory)
    assert leftovers(RUN_ID, state_directory) == NOTHING


def test_a_kill_in_mid_batch_leaves_no_command_that_goes_on(state_directory: Path) -> None:
    """What ``ip`` still had to make must not appear after ``clean`` looked."""
    plan = _plan(tuple(f"s{number}" for number in range(250)))
    first = Path("/run/netns", next(iter(plan.namespaces.values())))
    pid = _in_child(lambda: Session(RUN_ID).build_network(plan))
    deadline = time.monotonic() + 10
    while not first.exists():  # a pause would be long beside the milliseconds that the batch takes
        assert time.monotonic() < deadline
    os.kill(pid, signal.SIGKILL)
    assert _end_of(pid) == signal.SIGKILL
    assert len(namespaces(f"{RUN_ID}-")) < len(plan.namespaces), "the kill came too late"
    _clean(state_directory)
    with pytest.raises(AssertionError, match="waited"):
        wait_until(lambda: namespaces(f"{RUN_ID}-"), "a namespace of a dead run", timeout_s=1.0)
    assert leftovers(RUN_ID, state_directory) == NOTHING


def _broken(command: Command) -> Command:
    """``command`` with words that its tool does not know."""
    if command.tool == "sysctl":
        return replace(command, words=(*command.words, "net.ipv4.no_such_setting=1"))
    return replace(command, words=("nonsense", *command.words[1:]))


def test_a_command_that_fails_is_named_and_leaves_nothing(state_directory: Path) -> None:
    links_before = host_links()
    for step in _failing_steps():
        failing = _broken(PLAN.commands[step])
        commands = (*PLAN.commands[:step], failing, *PLAN.commands[step + 1 :])
        with Session(RUN_ID) as session, pytest.raises(EmulationError) as raised:
            session.build_network(replace(PLAN, commands=commands))
        assert str(raised.value).startswith(f"{failing}: ")
        assert leftovers(RUN_ID, state_directory) == NOTHING, str(failing)
        assert host_links() == links_before, str(failing)
        assert not state_directory.exists(), str(failing)
