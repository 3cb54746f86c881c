"""Whole messages, however the bytes arrive."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator import messages as module
from emulator.messages import MessageSocket

Pair = tuple[MessageSocket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = socket.socketpair()
    yield MessageSocket(ours), theirs
    ours.close()
    theirs.close()


def test_a_message_arrives_as_it_was_sent() -> None:
    a, b = (MessageSocket(end) for end in socket.socketpair())
    message = {"text": "line\nbreak é", "list": [1, 2.5, None], "nested": {"x": True}}
    a.send(message)
    a.send({"second": 2})
    assert b.receive() == message
    assert b.receive() == {"second": 2}
    a.close()
    assert b.receive() is None
    b.close()


def test_a_message_in_pieces_is_put_together(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b'{"a":')
    assert list(ours.receive_ready()) == []
    theirs.sendall(b' 1}\n{"b"')
    assert list(ours.receive_ready()) == [{"a": 1}]
    theirs.sendall(b": 2}\n")
    assert list(ours.receive_ready()) == [{"b": 2}]


def test_several_messages_in_one_read_are_told_apart(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b'{"a": 1}\n{"b": 2}\n{"c": 3}\n')
    assert list(ours.receive_ready()) == [{"a": 1}, {"b": 2}, {"c": 3}]


def test_what_was_read_ahead_is_not_lost(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b'{"a": 1}\n{"b": 2}\n{"c"')
    assert ours.receive() == {"a": 1}
    assert ours.receive() == {"b": 2}
    theirs.sendall(b": 3}\n")
    assert ours.receive() == {"c": 3}


def test_a_closed_peer_is_none(pair: Pair) -> None:
    ours, theirs = pair
    theirs.close()
    assert ours.receive() is None
    assert list(ours.receive_ready()) == [None]


def test_the_last_messages_of_a_closed_peer_come_before_none(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b'{"a": 1}\n{"half":')
    theirs.close()
    assert list(ours.receive_ready()) == [{"a": 1}]
    assert list(ours.receive_ready()) == [None]


def test_half_a_message_of_a_closed_peer_is_none(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b'{"half":')
    theirs.close()
    assert ours.receive() is None


def test_a_peer_that_reset_is_gone(pair: Pair) -> None:
    ours, theirs = pair
    ours.send({"never": "read"})
    theirs.close()  # with unread data: the next read is a reset
    assert ours.receive() is None


def test_one_waits_for_a_peer_to_close_and_for_no_longer_than_one_wants(pair: Pair) -> None:
    ours, theirs = pair
    theirs.sendall(b'{"late": 1}\n')
    ours.wait_for_close(0.01)
    theirs.sendall(b'{"later": 1}\n')
    theirs.close()
    ours.wait_for_close(300.0)
    assert ours.receive() is None


def test_sending_to_a_closed_peer_is_an_error(pair: Pair) -> None:
    ours, theirs = pair
    theirs.close()
    with pytest.raises(OSError, match="Broken pipe"):
        ours.send({})


def test_a_message_without_end_is_refused(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pair
    monkeypatch.setattr(module, "_MAX_MESSAGE_BYTES", 1000)
    theirs.sendall(b"x" * 1001)
    with pytest.raises(ValueError, match="longer than"):
        ours.receive()


@given(
    st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5)), max_size=8),
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
)
def test_no_cut_of_the_stream_changes_the_messages(
    sent: list[dict[str, int | str]], cuts: list[int]
) -> None:
    data = b"".join(json.dumps(message).encode() + b"\n" for message in sent)
    a, b = socket.socketpair()
    received, ours = [], MessageSocket(b)
    position = turn = 0
    while position < len(data):
        size = cuts[turn % len(cuts)]
        a.sendall(data[position : position + size])
        received += list(ours.receive_ready())
        position, turn = position + size, turn + 1
    a.close()
    b.close()
    assert received == sent
