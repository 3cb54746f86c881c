"""Messages between the profiler and the training process come out as they went in."""

from __future__ import annotations

import json

import pytest

from profiler.training.protocol import (
    Allocate,
    Allocated,
    Command,
    End,
    Ended,
    Event,
    Iterations,
    NotFinite,
    OutOfMemory,
    Ready,
    Refused,
    command_message,
    event_message,
    parse_command,
    parse_event,
)
from traces.errors import BadInputError

READY = Ready(
    model="res50",
    kind="image",
    batch_size=16,
    device="cpu",
    device_name="x86_64",
    loader="torch",
    dataset_items=100,
    dataset_bytes=None,
    skipped={"broken": 2},
    options={"precision": "fp32"},
    not_followed={"memory": "the dataset is a list"},
    versions={"torch": "2"},
)


@pytest.mark.parametrize("command", [Allocate(1.25, 10**12, "synthetic", fill=False), End()])
def test_commands(command: Command) -> None:
    assert parse_command(json.loads(json.dumps(command_message(command)))) == command


@pytest.mark.parametrize(
    "event",
    [
        READY,
        Allocated(workers=None, threads=1, cached_items=3, cached_bytes=30, cpus=0.5),
        Refused("no memory"),
        Iterations([[0.1, 0.2, 0.3, 0.6]], 16, 2, hits=1, misses=2, fetched_bytes=3),
        OutOfMemory("tried to allocate"),
        NotFinite(7),
        Ended(12, code=3, reason="exit code 3"),
    ],
)
def test_events(event: Event) -> None:
    assert parse_event(json.loads(json.dumps(event_message(event)))) == event


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"event": "reday"}, "event is 'reday'"),
        ({}, "event is None"),
        ({"event": ["ready"]}, "event is "),
        ({"event": "refused"}, "refused has nothing; allowed: message"),
        ({"event": "ended", "iterations": 1, "codes": 2}, "ended has codes, iterations"),
    ],
)
def test_what_is_no_event_is_refused(message: dict[str, object], said: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_event(message)
    assert said in str(caught.value)
