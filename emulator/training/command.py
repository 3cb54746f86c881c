"""A worker that is the user's own command: it runs while its lease does, and stands still between.

Its iterations are counted by what it sends (emulator.iterations).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from emulator.cgroups import join_group, processes_in
from emulator.iterations import SOCKET_VARIABLE, socket_address
from emulator.messages import Message, MessageSocket
from emulator.training.lease_client import LeaseClient, LeaseLostError
from emulator.training.lease_protocol import END, EXTEND, REGISTER
from emulator.training.specification import LoaderReport, PipelineState
from emulator.wake import sleep_until
from netshaper.namespaces import enter_namespace, inside_namespace
from netshaper.parent_death import end_with_parent

_TERM_GRACE_S = 10.0
_POLL_S = 0.02
_MAX_DATAGRAM_BYTES = 64

# The specification: job, rank, lease_address, namespace, argv, directory, environment, user
#   ([uid, gid] or null), groups: [path, ...], iterations_per_count, iterations_left.
# To the controller, over its socket: {event: command-ended, status}


def run_command(specification: Message, control: MessageSocket) -> None:
    """Run the command until it ends, its iterations are done, or its lease is over."""
    counter = _IterationSocket(specification["namespace"])
    pid = _start(specification, counter.name)
    command = _Command(pid, [Path(path) for path in specification["groups"]])
    try:
        _hold_lease(specification, command, counter, control)
    except LeaseLostError:
        return  # nobody is left to tell
    finally:
        command.end()


class _IterationSocket:
    """Counts the iterations that the command reports, from inside its namespace."""

    def __init__(self, namespace: str) -> None:
        self.name = f"@roundelay-iterations-{os.getpid()}"
        with inside_namespace(namespace):
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(socket_address(self.name))
        self._socket.setblocking(False)
        self.count = 0
        self.refused = 0

    def fileno(self) -> int:
        return self._socket.fileno()

    def take(self) -> None:
        """Add up what has come. What is no number is counted as refused."""
        while True:
            try:
                text = self._socket.recv(_MAX_DATAGRAM_BYTES)
            except BlockingIOError:
                return
            if text.isdigit():
                self.count += int(text)
            else:
                self.refused += 1


class _Command:
    """The processes of the command: all in its groups, stopped and continued together."""

    def __init__(self, pid: int, groups: Sequence[Path]) -> None:
        self._pid = pid
        self._groups = groups
        self._descriptor = os.pidfd_open(pid)
        self.status: int | None = None

    def fileno(self) -> int:
        """Readable when the command has ended."""
        return self._descriptor

    def signal(self, number: int) -> None:
        """To every process of it. One that forks meanwhile is met by looking again."""
        sent: set[int] = set()
        while fresh := self._processes() - sent:
            for pid in fresh:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            sent |= fresh

    def has_ended(self) -> bool:
        """Whether its first process is gone; then ``status`` says how."""
        if self.status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def end(self) -> None:
        """Ask it to end, and end it."""
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGCONT)
        deadline_s = time.monotonic() + _TERM_GRACE_S
        while not self.has_ended() and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
        self.signal(signal.SIGKILL)

    def _processes(self) -> set[int]:
        found = {pid for group in self._groups for pid in processes_in(group)}
        if not self._groups and not self.has_ended():
            found = {self._pid}
        return found


def _start(specification: Message, socket_name: str) -> int:
    """The command, stopped before its first instruction until its first round begins."""
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.waitpid(pid, os.WUNTRACED)
        return pid
    try:
        end_with_parent(parent)
        os.setsid()
        for path in specification["groups"]:
            join_group(Path(path))
        enter_namespace(specification["namespace"])
        os.kill(os.getpid(), signal.SIGSTOP)
        os.chdir(specification["directory"])
        if specification["user"] is not None:
            uid, gid = specification["user"]
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        environment: Mapping[str, str] = {
            **os.environ,
            **specification["environment"],
            SOCKET_VARIABLE: socket_name,
        }
        os.execvpe(specification["argv"][0], specification["argv"], environment)  # noqa: S606
    except OSError as error:
        os.write(2, f"{specification['argv'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _hold_lease(
    specification: Message, command: _Command, counter: _IterationSocket, control: MessageSocket
) -> None:
    client = LeaseClient(
        specification["lease_address"], specification["job"], specification["rank"]
    )
    wanted = specification["iterations_left"] / specification["iterations_per_count"]
    reply = client.call(REGISTER)
    while reply["do"] != "end":
        sleep_until(reply["resume_s"])
        command.signal(signal.SIGCONT)
        finished_s = _run(command, counter, wanted, reply["pause_s"])
        if finished_s is None:
            command.signal(signal.SIGSTOP)
        report = _report(counter)
        if finished_s is not None:
            if counter.count < wanted and command.status != 0:
                control.send({"event": "command-ended", "status": command.status})
                return
            client.call(END, report=report, finished_s=finished_s)
            return
        reply = client.call(EXTEND, report=report)
    client.call(END, report=None, finished_s=None)


def _run(
    command: _Command, counter: _IterationSocket, wanted: float, pause_s: float
) -> float | None:
    """Until ``pause_s``; when the job was done, where it was done before."""
    while (left_s := pause_s - time.monotonic()) > 0:
        select.select([command.fileno(), counter.fileno()], [], [], left_s)
        counter.take()
        if counter.count >= wanted or command.has_ended():
            return time.monotonic()
    return None


def _report(counter: _IterationSocket) -> dict[str, Any]:
    loader = LoaderReport(PipelineState(), 0, 0, 0, 0, 0.0, 0.0)
    return {
        "steps": float(counter.count),
        "begun": None,
        "spans": [],
        "lateness_s": [],
        "refused": counter.refused,
        "loader": asdict(loader),
    }
