"""The Chrome trace: one process an arm, one thread a job, times in microseconds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.unit.builders import iteration_row
from traces.results import EventRow
from traces.timeline import chrome_trace

ROWS = [
    iteration_row("fair", 0, 0.2),
    iteration_row("fair", 0, 0.2, job="two"),
    iteration_row("fifo", 0, 0.3, job="two"),
]


def events(kind: str, trace: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event["name"].startswith(kind)]


def test_every_arm_is_a_process_and_every_job_a_thread() -> None:
    trace: dict[str, Any] = chrome_trace(ROWS)
    processes = {event["pid"]: event["args"]["name"] for event in events("process_name", trace)}
    assert processes == {1: "fair", 2: "fifo"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events("thread_name", trace)}
    assert threads == {(1, 1): "one", (1, 2): "two", (2, 1): "one", (2, 2): "two"}


def test_an_iteration_stands_at_its_time_with_its_communication_inside() -> None:
    trace: dict[str, Any] = chrome_trace([iteration_row("fair", 1, 0.2)])
    (whole,) = events("iteration", trace)
    (part,) = events("communication", trace)
    assert (whole["ts"], whole["dur"], whole["ph"]) == (200_000, 200_000, "X")
    assert (part["ts"], part["dur"]) == (300_000, 100_000)
    assert (part["pid"], part["tid"]) == (whole["pid"], whole["tid"])


def test_an_iteration_without_communication_has_none() -> None:
    trace: dict[str, Any] = chrome_trace([iteration_row("a", 0, 0.2, communication_start_s=0.2)])
    assert events("communication", trace) == []


def test_the_trace_is_json_also_when_nothing_ran() -> None:
    assert json.loads(json.dumps(chrome_trace([])))["traceEvents"] == []
    assert len(json.loads(json.dumps(chrome_trace(ROWS)))["traceEvents"]) == 2 + 4 + 6


def test_a_change_of_a_link_is_an_instant_of_its_arm() -> None:
    change = EventRow("fifo", "n1", "a-b down", 1.0, 1.001, 1.002)
    trace: dict[str, Any] = chrome_trace(ROWS, [change, replace(change, arm="never run")])
    (found,) = (event for event in trace["traceEvents"] if event["ph"] == "i")
    assert (found["pid"], found["name"], found["ts"]) == (2, "n1: a-b down", 1_002_000)
