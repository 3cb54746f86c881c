"""A storage server gives what is in the file, in order, marked as it was asked to, and no more."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.messages import MessageSocket
from emulator.training.dataset import make_dataset
from emulator.training.specification import StorageRoute
from emulator.training.storage_client import StorageClient
from emulator.training.storage_protocol import HELLO, REQUEST, SIZE
from emulator.training.storage_server import run_storage
from traces.errors import EmulationError

SIZE_BYTES = 100_000
ITEM_BYTES = 30_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    make_dataset(path, SIZE_BYTES, seed=1)
    return path


@pytest.fixture
def port(file: Path) -> Iterator[int]:
    ours, theirs = socket.socketpair()
    specification = {
        "namespace": None,
        "address": "127.0.0.1",
        "port": 0,
        "dscp": 0,
        "window_bytes": 32768,
        "congestion_control": "reno",
        "dataset_file": str(file),
    }
    server = threading.Thread(target=run_storage, args=(specification, MessageSocket(theirs)))
    server.start()
    control = MessageSocket(ours)
    message = control.receive()
    assert message is not None
    yield message["port"]
    control.close()
    server.join()


def connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.sendall(HELLO.pack(5, b"reno"))
    size = connection.recv(SIZE.size, socket.MSG_WAITALL)
    assert SIZE.unpack(size) == (SIZE_BYTES,)
    connection.settimeout(None)  # with a timeout a read may return a part
    return connection


def test_pieces_come_in_the_order_in_which_they_were_asked_for(port: int, file: Path) -> None:
    data = file.read_bytes()
    ranges = [(50_000, 50_000), (0, 1), (99_999, 1), (0, SIZE_BYTES)]
    with connected(port) as connection:
        connection.sendall(b"".join(REQUEST.pack(*each) for each in ranges))
        for offset, count in ranges:
            assert connection.recv(count, socket.MSG_WAITALL) == data[offset : offset + count]


@pytest.mark.parametrize(
    ("offset", "count"), [(0, SIZE_BYTES + 1), (SIZE_BYTES, 1), (2**63, 2**63)]
)
def test_what_is_not_in_the_file_ends_the_connection(
    port: int, offset: int, count: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with connected(port) as connection:
        connection.sendall(REQUEST.pack(offset, count))
        assert connection.recv(1) == b""
    assert f"given up: {count} bytes at {offset}" in capfd.readouterr().err


def test_a_client_reads_items_from_their_slots(port: int, file: Path) -> None:
    data = file.read_bytes()
    route = StorageRoute("127.0.0.1", "127.0.0.1", port, 5, 32768, "reno")
    client = StorageClient(route, ITEM_BYTES)
    items = [2, 0, 4, 2]  # three fit the file: the fourth is the first again
    client.request(items)
    for item in items:
        found = bytearray(ITEM_BYTES)
        left = memoryview(found)
        while left:
            client.await_piece(len(left))
            left = left[client.read_piece(left) :]
        offset = item % 3 * ITEM_BYTES
        assert found == data[offset : offset + ITEM_BYTES]


def test_an_item_larger_than_the_file_is_refused(port: int) -> None:
    route = StorageRoute("127.0.0.1", "127.0.0.1", port, 5, 32768, "reno")
    with pytest.raises(EmulationError, match="smaller than an item"):
        StorageClient(route, SIZE_BYTES + 1)
