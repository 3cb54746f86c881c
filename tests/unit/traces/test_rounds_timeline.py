"""A run of rounds as a trace: queue, GPUs, steps and links, within bounds that are counted."""

from __future__ import annotations

import itertools
from typing import Any

import pandas as pd
import pytest

from traces import rounds_timeline
from traces.rounds_timeline import RunTables, rounds_trace

JOBS = pd.DataFrame(
    {
        "job": ["a", "b"],
        "model": ["res18", "gnmt"],
        "submit_s": [0.0, 100.0],
        "finish_s": [600.0, None],
    }
)
LEASES = pd.DataFrame(
    [
        ("a", 0, 2.0, 6.0, 125e9, 0.0, 300.0),
        ("b", 0, 1.0, 3.0, 62.5e9, 300.0, 600.0),
        ("a", 0, 2.0, 4.0, 125e9, 300.0, 600.0),
    ],
    columns=["job", "server", "gpus", "cpus", "memory_bytes", "from_s", "until_s"],
)
STEPS = pd.DataFrame(
    [("a", 0, 10.0, 40.0, 5.0, 100.0), ("b", 0, 310.0, 340.0, 0.0, 100.0)],
    columns=["job", "server", "start_s", "end_s", "stall_s", "iterations"],
)
LINKS = pd.DataFrame({"port": ["x->y"] * 2, "t_s": [10.0, 320.0], "rate_bps": [1e9, 2e9]})
RUN = RunTables("tune, seed 1", JOBS, LEASES, STEPS, LINKS, 600.0)


def events(**wanted: object) -> list[dict[str, Any]]:
    document: Any = rounds_trace([RUN])
    return [
        event
        for event in document["traceEvents"]
        if all(event.get(key) == value for key, value in wanted.items())
    ]


def names(kind: str) -> list[str]:
    return [event["args"]["name"] for event in events(name=kind)]


def test_there_is_a_track_for_every_gpu_of_every_server() -> None:
    assert names("process_name") == [
        "tune, seed 1: queue",
        "tune, seed 1: server 0",
        "tune, seed 1: links",
    ]
    assert names("thread_name") == ["GPU 0", "GPU 1", "GPU 2", "GPU 0: steps", "GPU 2: steps"]


def test_a_lease_is_a_span_on_each_of_its_gpus() -> None:
    spans = [(e["name"], e["tid"], e["ts"], e["dur"]) for e in events(cat="lease")]
    assert spans == [
        ("a", 1, 0.0, 300e6),
        ("a", 3, 0.0, 300e6),
        ("a", 1, 300e6, 300e6),
        ("a", 3, 300e6, 300e6),
        ("b", 5, 300e6, 300e6),
    ]


def test_a_job_that_goes_on_keeps_its_gpus_whoever_comes() -> None:
    tracks = {(e["name"], e["tid"]) for e in events(cat="lease")}
    assert tracks == {("a", 1), ("a", 3), ("b", 5)}


def test_no_gpu_is_held_twice_at_a_time() -> None:
    by_track: dict[int, list[tuple[float, float]]] = {}
    for event in events(cat="lease"):
        by_track.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    for spans in by_track.values():
        spans.sort()
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))


def test_steps_and_the_waits_before_them_are_spans() -> None:
    assert [(e["name"], e["ts"], e["dur"]) for e in events(cat="step")] == [
        ("a: 100 iterations", 10e6, 30e6),
        ("b: 100 iterations", 310e6, 30e6),
    ]
    assert [(e["ts"], e["dur"]) for e in events(cat="stall")] == [(5e6, 5e6)]


def test_a_job_waits_from_its_submission_to_its_lease() -> None:
    assert [(e["ph"], e["name"], e["ts"]) for e in events(cat="queue")] == [
        ("b", "b", 100e6),
        ("e", "b", 300e6),
    ]
    counts = [(e["ts"], e["args"]["waiting"], e["args"]["running"]) for e in events(name="jobs")]
    assert counts == [(0.0, 0, 1), (100e6, 1, 1), (300e6, 0, 2), (600e6, 0, 0)]


def test_links_are_counters() -> None:
    assert [(e["ts"], e["args"]) for e in events(name="x->y")] == [
        (10e6, {"Gbit/s": 1.0}),
        (320e6, {"Gbit/s": 2.0}),
    ]


def test_steps_and_links_outside_the_window_are_not_in_it() -> None:
    document: Any = rounds_trace([RUN], (300.0, 600.0))
    kinds = [event.get("cat") for event in document["traceEvents"]]
    assert kinds.count("step") == 1
    assert kinds.count("lease") == 5
    assert [e["ts"] for e in document["traceEvents"] if e["name"] == "x->y"] == [320e6]


def test_what_is_too_much_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds_timeline, "MOST_OF_A_KIND", 1)
    document: Any = rounds_trace([RUN])
    assert document["otherData"] == {
        "left out: jobs": 1,
        "left out: leases": 2,
        "left out: steps": 1,
        "left out: links": 1,
    }
    assert [e["name"] for e in document["traceEvents"] if e.get("cat") == "step"] == [
        "a: 100 iterations"
    ]
