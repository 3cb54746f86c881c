"""A worker that is a rank of the user's own job: real processes on an emulated server.

It takes part in a run as a replayed worker does. The script calls ``emulator.iterations``' function
after every iteration, which gives it the turn for the next one: so its time-shift is kept, its
iterations are told like those of others, and all ranks begin together.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from emulator.command_log import CommandLog
from emulator.command_program import find_program, program_words, remedy, search_path
from emulator.foreign_sockets import configure_connections
from emulator.host_identity import become_host
from emulator.iterations import TURNS_VARIABLE, socket_address
from emulator.messages import Message, MessageSocket
from emulator.wake import wake_promptly
from netshaper.namespaces import enter_namespace
from netshaper.parent_death import end_with_parent
from netshaper.settings import write_settings
from traces.errors import EmulationError

_FIRST_ITERATION_S = 300.0
"""Within which a script has loaded its libraries, connected its ranks and done one iteration."""

_TERM_GRACE_S = 5.0
END_S = _TERM_GRACE_S + 2.0
"""Within which a worker that is told to end has ended its command."""

_POLL_S = 0.02
_LOG_S = 0.1
"""Between two looks at what the command wrote: so a flood of it costs no more than a trickle."""

_MAX_DATAGRAM_BYTES = 64

# The specification: namespace, host: its name, hosts: the file with all names, argv, directory,
#   environment, user ([uid, gid] or null), log: the file for what it writes or null, dscp,
#   window_bytes, congestion_control


def run_command_worker(specification: Message, control: MessageSocket) -> None:
    """Start the command, wait for its first iteration, then give it turns as the controller says.

    Raises EmulationError where it ends early, or does no iteration.
    """
    enter_namespace(specification["namespace"])
    write_settings(_window(specification["window_bytes"]))
    turns = _Turns(control)
    control.send({"event": "listening"})
    if control.receive() is None:
        return
    command = _Command(specification, turns.name)
    wake_promptly()  # after the fork, for children inherit it
    try:
        turns.accept(command)
        turns.next_end(command, _FIRST_ITERATION_S)
        configure_connections(
            command.pid, specification["dscp"], specification["congestion_control"]
        )
        control.send({"event": "ready"})
        while (message := control.receive()) is not None and message["do"] == "iterate":
            control.send(_iterate(turns, command, message["start_s"]))
    except _RunIsOverError:
        pass
    finally:
        turns.close()
        command.end()


class _RunIsOverError(Exception):
    """The controller wants no more of it, in mid-iteration."""


def _window(window_bytes: int) -> dict[str, str]:
    """As replayed workers set their own sockets: here for all of the host, before any is open.

    The kernel advertises half of a buffer as the window; SO_RCVBUF doubles what it is given.
    """
    return {"net.ipv4.tcp_rmem": f"4096\t{2 * window_bytes}\t{2 * window_bytes}"}


def _iterate(turns: _Turns, command: _Command, start_s: float) -> Message:
    """One iteration, told as emulator.worker tells its own. What it sends when is not known."""
    turns.give(start_s)
    began_s, ended_s = turns.next_end(command, None)
    return {
        "event": "end",
        "timeline_end_s": ended_s,
        "started_s": [],
        "received_s": [],
        "input_ready_s": 0.0,
        "lateness_s": [max(began_s - start_s, 0.0)],
    }


class _Waited(Protocol):
    def fileno(self) -> int: ...


class _Turns:
    """The socket on which the script says that it is done and waits for its next turn."""

    def __init__(self, control: MessageSocket) -> None:
        self._control = control
        self.name = f"@roundelay-turns-{os.getpid()}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.bind(socket_address(self.name))
        self._socket.listen(1)

    def accept(self, command: _Command) -> None:
        """Wait for the script's first iteration."""
        if not self._is_readable(command, _FIRST_ITERATION_S):
            raise EmulationError(
                f"{command} did no iteration in {_FIRST_ITERATION_S:.0f} s: its script has to call "
                f"emulator.iterations.iteration_done() after each one{command.last_words()}"
            )
        connection, _ = self._socket.accept()
        self._socket.close()
        self._socket = connection

    def give(self, start_s: float) -> None:
        """Let the script begin its next iteration at ``start_s``."""
        with contextlib.suppress(BrokenPipeError):  # it ended: the next read says so
            self._socket.send(str(round(start_s * 1e9)).encode())

    def next_end(self, command: _Command, timeout_s: float | None) -> tuple[float, float]:
        """(began_s, ended_s) of the iteration that the script says next."""
        if not self._is_readable(command, timeout_s):
            raise EmulationError(f"{command} fell silent in its first iteration")
        words = self._socket.recv(_MAX_DATAGRAM_BYTES).split()
        if len(words) != 2:
            raise EmulationError(
                f"{command} ended before its iterations were done{command.last_words()}"
            )
        began_ns, ended_ns = map(int, words)
        return began_ns / 1e9, ended_ns / 1e9

    def close(self) -> None:
        self._socket.close()

    def _is_readable(self, command: _Command, timeout_s: float | None) -> bool:
        """Whether something came within ``timeout_s``; meanwhile the command's log is kept.

        Raises EmulationError where the command ended without a word, _RunIsOverError where the
        controller closed: it says nothing in mid-iteration.
        """
        deadline_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        waited: tuple[_Waited, ...] = (self._socket, command, self._control)
        ready: list[_Waited] = []
        while not ready:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                return False
            ready, _, _ = select.select(waited, (), (), min(left_s, _LOG_S))
            command.log.take()
        if self._socket in ready:
            return True
        if self._control in ready:
            raise _RunIsOverError
        raise EmulationError(
            f"{command} ended with status {command.status()} before it was done"
            f"{command.last_words()}"
        )


class _Command:
    """The processes of the command: a session of their own."""

    def __init__(self, specification: Message, turns: str) -> None:
        path = search_path(os.environ)
        self._name: str = specification["argv"][0]
        self._place = find_program(self._name, path)
        log, user = specification["log"], specification["user"]
        self.log = CommandLog(log and Path(log), user)
        environment = {
            "PYTHONUNBUFFERED": "1",  # else what it printed last is lost with it
            **os.environ,
            **specification["environment"],
            "PATH": path,
            TURNS_VARIABLE: turns,
        }
        self.pid = _start(specification, environment, self.log.writable)
        self._descriptor = os.pidfd_open(self.pid)
        self._status: int | None = None

    def __str__(self) -> str:
        return f"the command {program_words(self._name, self._place)}"

    def last_words(self) -> str:
        """The last line that it wrote, what to do about it, and where the others are, as the end
        of a sentence."""
        line = self.log.last_line()
        if not line:
            return ", and wrote nothing"
        return f"; it last wrote: {line}{remedy(line, self._place)}{self.log}"

    def fileno(self) -> int:
        """Readable when the command has ended."""
        return self._descriptor

    def status(self) -> int | None:
        """Its exit status, or minus a signal; None while it runs."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status

    def end(self) -> None:
        """Ask it to end, and end it, with all that it started in its session."""
        self._signal(signal.SIGTERM)
        deadline_s = time.monotonic() + _TERM_GRACE_S
        while self.status() is None and time.monotonic() < deadline_s:
            time.sleep(_POLL_S)
            self.log.take()
        self._signal(signal.SIGKILL)
        self.log.take()
        self.log.close()
        os.close(self._descriptor)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)


def _start(specification: Message, environment: Mapping[str, str], output: int) -> int:
    parent = os.getpid()
    argv: list[str] = specification["argv"]
    pid = os.fork()
    if pid:
        return pid
    try:
        end_with_parent(parent)
        os.setsid()
        os.dup2(output, 1)
        os.dup2(output, 2)
        become_host(specification["host"], Path(specification["hosts"]))
        os.chdir(specification["directory"])
        if specification["user"] is not None:
            uid, gid = specification["user"]
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        os.execvpe(argv[0], argv, environment)  # noqa: S606
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)
