"""What a training script calls so that Roundelay can count its iterations. Standard library only.

    from emulator.iterations import iteration_done
    iteration_done()

Where nobody counts it does nothing. A script that cannot import this sends the number of
iterations, as text, in a datagram to the Unix socket that $ROUNDELAY_ITERATIONS names (a name with
@ is an abstract one).

Where jobs share links ($ROUNDELAY_TURNS) the call also waits for the job's next turn: until all its
ranks have done the iteration, and until its time-shift is over.
"""

from __future__ import annotations

import functools
import os
import socket
import time

SOCKET_VARIABLE = "ROUNDELAY_ITERATIONS"
FIRST_VARIABLE = "ROUNDELAY_FIRST_ITERATION"
TURNS_VARIABLE = "ROUNDELAY_TURNS"

_MAX_DATAGRAM_BYTES = 64

# Over the socket of turns go times of the monotonic clock in ns, as text: from the script when it
# began and when it ended an iteration, "BEGAN ENDED"; to it when the next one is to begin.


def iteration_done(count: int = 1) -> None:
    """``count`` further iterations are done. Of several processes on a server the first counts."""
    turns = _connection(TURNS_VARIABLE, socket.SOCK_SEQPACKET)
    if turns is not None:
        _wait_for_turn(turns)
    counter = _connection(SOCKET_VARIABLE, socket.SOCK_DGRAM)
    if counter is not None:
        counter.send(str(count).encode())


def first_iteration() -> int:
    """Where the job goes on: iterations that earlier leases have done; 0 outside a run."""
    return int(os.environ.get(FIRST_VARIABLE, "0"))


_began_ns = time.monotonic_ns()


def _wait_for_turn(turns: socket.socket) -> None:
    """Ends the process where nobody gives turns any longer: the run is over."""
    global _began_ns
    turns.send(f"{_began_ns} {time.monotonic_ns()}".encode())
    reply = turns.recv(_MAX_DATAGRAM_BYTES)
    if not reply:
        raise SystemExit(0)
    time.sleep(max(0, int(reply) - time.monotonic_ns()) / 1e9)
    _began_ns = time.monotonic_ns()


@functools.cache
def _connection(variable: str, kind: socket.SocketKind) -> socket.socket | None:
    path = os.environ.get(variable)
    if path is None or os.environ.get("LOCAL_RANK", "0") != "0":
        return None
    connection = socket.socket(socket.AF_UNIX, kind)
    connection.connect(socket_address(path))
    return connection


def socket_address(name: str) -> str:
    """As the kernel takes it: abstract sockets, which their network namespace alone sees, begin
    with a zero (unix(7))."""
    return f"\0{name[1:]}" if name.startswith("@") else name
