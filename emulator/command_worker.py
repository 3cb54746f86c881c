"""A worker that is a rank of the user's own job: real processes on an emulated server.

It takes part in a run as a replayed worker does. The script calls ``emulator.iterations``' function
after every iteration, which gives it the turn for the next one: so its time-shift is kept, its
iterations are told like those of others, and all ranks begin together.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from pathlib import Path

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
_POLL_S = 0.02
_MAX_DATAGRAM_BYTES = 64
_MOST_LAST_BYTES = 4096

# The specification: namespace, host: its name, hosts: the file with all names, argv, directory,
#   environment, user ([uid, gid] or null), log: the file for what it writes, dscp, window_bytes,
#   congestion_control


def run_command_worker(specification: Message, control: MessageSocket) -> None:
    """Start the command, wait for its first iteration, then give it turns as the controller says.

    Raises EmulationError where it ends early, or does no iteration.
    """
    enter_namespace(specification["namespace"])
    write_settings(_window(specification["window_bytes"]))
    turns = _Turns()
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
    finally:
        turns.close()
        command.end()


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


class _Turns:
    """The socket on which the script says that it is done and waits for its next turn."""

    def __init__(self) -> None:
        self.name = f"@roundelay-turns-{os.getpid()}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.bind(socket_address(self.name))
        self._socket.listen(1)

    def accept(self, command: _Command) -> None:
        """Wait for the script's first iteration."""
        if not _readable(self._socket, command, _FIRST_ITERATION_S):
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
        if not _readable(self._socket, command, timeout_s):
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


def _readable(awaited: socket.socket, command: _Command, timeout_s: float | None) -> bool:
    """Whether something came within ``timeout_s``. Raises EmulationError where the command ended
    without a word."""
    ready, _, _ = select.select([awaited.fileno(), command.fileno()], [], [], timeout_s)
    if ready == [command.fileno()]:
        raise EmulationError(
            f"{command} ended with status {command.status()} before it was done"
            f"{command.last_words()}"
        )
    return bool(ready)


class _Command:
    """The processes of the command: a session of their own."""

    def __init__(self, specification: Message, turns: str) -> None:
        self._program: str = specification["argv"][0]
        self._log = Path(specification["log"])
        self.pid = _start(specification, turns)
        self._descriptor = os.pidfd_open(self.pid)
        self._status: int | None = None

    def __str__(self) -> str:
        return f"the command {self._program!r}"

    def last_words(self) -> str:
        """The last line that it wrote, as the end of a sentence."""
        with self._log.open("rb") as log:
            log.seek(max(0, self._log.stat().st_size - _MOST_LAST_BYTES))
            lines = log.read().decode(errors="replace").strip().splitlines()
        return f"; it last wrote: {lines[-1]}" if lines else ", and wrote nothing"

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
        self._signal(signal.SIGKILL)
        os.close(self._descriptor)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)


def _start(specification: Message, turns: str) -> int:
    parent = os.getpid()
    argv: list[str] = specification["argv"]
    pid = os.fork()
    if pid:
        return pid
    try:
        end_with_parent(parent)
        os.setsid()
        log = os.open(specification["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        become_host(specification["host"], Path(specification["hosts"]))
        os.chdir(specification["directory"])
        if specification["user"] is not None:
            uid, gid = specification["user"]
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
        environment = {**os.environ, **specification["environment"], TURNS_VARIABLE: turns}
        os.execvpe(argv[0], argv, environment)  # noqa: S606
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)
