"""The storage of one emulated server: serves pieces of the dataset's file over TCP."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

from emulator.messages import Message, MessageSocket
from emulator.streams import configure_connection
from emulator.training.storage_protocol import HELLO, REQUEST, SIZE
from netshaper.namespaces import enter_namespace
from traces.errors import EmulationError

_HELLO_TIMEOUT_S = 30.0

# The specification: namespace (or null), address, port, dscp, window_bytes, congestion_control,
#   dataset_file. dscp and congestion_control are what a connection has until its loader says hello.
# Once it listens it says {event: listening, port}, and it serves until the controller is gone.


def run_storage(specification: Message, control: MessageSocket) -> None:
    """Serve every connection in a thread of its own until the controller says stop."""
    if specification["namespace"] is not None:
        enter_namespace(specification["namespace"])
    file = os.open(Path(specification["dataset_file"]), os.O_RDONLY | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    configure_connection(listener, specification)
    listener.bind((specification["address"], specification["port"]))
    listener.listen(64)
    threading.Thread(target=_accept_forever, args=(listener, file), daemon=True).start()
    control.send({"event": "listening", "port": listener.getsockname()[1]})
    while control.receive() is not None:
        pass


def _accept_forever(listener: socket.socket, file: int) -> None:
    size_bytes = os.fstat(file).st_size
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve, args=(connection, file, size_bytes), daemon=True).start()


def _serve(connection: socket.socket, file: int, size_bytes: int) -> None:
    """A loader that asks for what is not there loses its connection; one that ends is no error."""
    with connection:
        try:
            _answer(connection, file, size_bytes)
        except ConnectionError:
            return
        except (OSError, EmulationError) as error:
            print(f"a loader's connection is given up: {error}", file=sys.stderr, flush=True)


def _answer(connection: socket.socket, file: int, size_bytes: int) -> None:
    """Answer one loader until it ends."""
    connection.settimeout(_HELLO_TIMEOUT_S)
    hello = _receive(connection, HELLO.size)
    if hello is None:
        return
    dscp, congestion_control = HELLO.unpack(hello)
    connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, dscp << 2)
    algorithm = congestion_control.rstrip(b"\0")
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, algorithm)
    connection.settimeout(None)
    connection.sendall(SIZE.pack(size_bytes))
    while (request := _receive(connection, REQUEST.size)) is not None:
        offset, count = REQUEST.unpack(request)
        if offset + count > size_bytes:
            raise EmulationError(f"{count} bytes at {offset} of a file of {size_bytes}")
        while count > 0:
            sent = os.sendfile(connection.fileno(), file, offset, count)
            if sent == 0:
                raise EmulationError("the dataset's file has become shorter")
            offset, count = offset + sent, count - sent


def _receive(connection: socket.socket, size_bytes: int) -> bytes | None:
    """``size_bytes``, or None where the connection ended before."""
    data = connection.recv(size_bytes, socket.MSG_WAITALL)
    return data if len(data) == size_bytes else None
