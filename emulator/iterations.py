"""What a training script calls so that Roundelay can count its iterations. Standard library only.

    from emulator.iterations import iteration_done
    iteration_done()

Outside an emulated run it does nothing. A script that cannot import this sends the number of
iterations, as text, in a datagram to the Unix socket that $ROUNDELAY_ITERATIONS names.
"""

from __future__ import annotations

import functools
import os
import socket

SOCKET_VARIABLE = "ROUNDELAY_ITERATIONS"
FIRST_VARIABLE = "ROUNDELAY_FIRST_ITERATION"


def iteration_done(count: int = 1) -> None:
    """``count`` further iterations are done. Of several processes on a server the first counts."""
    connection = _connection()
    if connection is not None:
        connection.send(str(count).encode())


def first_iteration() -> int:
    """Where the job goes on: iterations that earlier leases have done; 0 outside a run."""
    return int(os.environ.get(FIRST_VARIABLE, "0"))


@functools.cache
def _connection() -> socket.socket | None:
    path = os.environ.get(SOCKET_VARIABLE)
    if path is None or os.environ.get("LOCAL_RANK", "0") != "0":
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    connection.connect(path)
    return connection
