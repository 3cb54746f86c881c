"""A small process that forks workers, samplers and probes.

It imports what they need once and nothing of the controller's (pandas alone takes half a second),
so that a child starts in milliseconds. When the controller dies, its socket closes and it ends;
its children carry a parent-death signal and end with it.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from emulator.cgroups import join_group
from emulator.messages import Message, MessageSocket
from netshaper.parent_death import end_with_parent
from netshaper.run_state import RunState
from traces.errors import RoundelayError

_PR_SET_TIMERSLACK = 29
_MAX_REQUEST_BYTES = 2**22

CHILDREN = {
    "worker": "emulator.worker:run_worker",
    "fed-worker": "emulator.fed_worker:run_fed_worker",
    "command-worker": "emulator.command_worker:run_command_worker",
    "trainer": "emulator.training.trainer:run_trainer",
    "command": "emulator.training.command:run_command",
    "storage": "emulator.training.storage_server:run_storage",
    "sampler": "emulator.sampler:run_sampler",
    "capture": "emulator.packet_capture:run_capture",
    "probe": "emulator.calibration:run_probe",
}
"""Kind of child -> its main function, given its specification and its control socket."""

NETWORK_KINDS = ("worker", "command-worker", "sampler", "probe")
CAPTURED_KINDS = (*NETWORK_KINDS, "capture")
DIVIDED_KINDS = (*NETWORK_KINDS, "fed-worker")
ROUNDS_KINDS = ("trainer", "command", "storage", "sampler", "probe")
"""What runs of a network start, those whose packets are captured, those in which CPUs are divided,
and runs of rounds: numpy is not for the first, and gRPC for the last only."""


class ForkServer:
    """The controller's handle on the fork server process."""

    def __init__(self, state: RunState, kinds: Sequence[str] = NETWORK_KINDS) -> None:
        """kinds: of children that will be started, for which it imports what they need."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._log = state.directory / "children.log"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                # Isolated: the current folder and PYTHONPATH may not say what runs here as root.
                (
                    *(sys.executable, "-I", "-m", "emulator.fork_server"),
                    *(str(theirs.fileno()), *kinds),
                ),
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # A Ctrl-C at the terminal is the controller's to handle, not the children's.
                start_new_session=True,
            )
        theirs.close()
        self._control = ours
        state.claim_process(self._process.pid)

    def start(self, kind: str, specification: Message, cgroup: Path | None) -> MessageSocket:
        """Fork a child of ``kind`` in ``cgroup``; returns the socket to talk to it."""
        ours, theirs = socket.socketpair()
        request = {"kind": kind, "cgroup": cgroup and str(cgroup), "specification": specification}
        socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
        theirs.close()
        return MessageSocket(ours)

    def log_tail(self) -> str:
        """The last line that a child wrote to its standard error, for an error message."""
        with contextlib.suppress(OSError):
            lines = self._log.read_text(errors="replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    def close(self) -> None:
        """End the fork server and all its children."""
        self._control.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _serve(control: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # children are reaped by the kernel
    while True:
        data, ancillary, _, _ = control.recvmsg(
            _MAX_REQUEST_BYTES, socket.CMSG_SPACE(array.array("i").itemsize)
        )
        if not data:
            return
        descriptors = array.array("i")
        for _, _, payload in ancillary:
            descriptors.frombytes(payload)
        child_socket = socket.socket(fileno=descriptors[0])
        if os.fork() == 0:
            control.close()
            _run_child(json.loads(data), MessageSocket(child_socket))
        child_socket.close()


def _main_of(kind: str) -> Callable[[Message, MessageSocket], None]:
    """The main function of a kind of child; the first time, its module is imported."""
    module, _, function = CHILDREN[kind].partition(":")
    main: Callable[[Message, MessageSocket], None] = getattr(
        importlib.import_module(module), function
    )
    return main


def _run_child(request: Message, control: MessageSocket) -> None:
    """Never returns: the child ends here, whatever happens."""
    status = 1
    try:
        parent = os.getppid()
        end_with_parent(parent)
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        gc.disable()  # a pause in mid-iteration would count as network time
        if request["cgroup"] is not None:
            join_group(Path(request["cgroup"]))
        _main_of(request["kind"])(request["specification"], control)
        status = 0
    except RoundelayError as error:
        sys.stderr.write(f"{error}\n")
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    for kind_of_child in sys.argv[2:]:
        _main_of(kind_of_child)
    with socket.socket(fileno=int(sys.argv[1])) as control_socket:
        _serve(control_socket)
