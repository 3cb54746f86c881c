"""Whole runs on a stock kernel: what must hold however slow the machine. No times, no status."""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from tests.guest.conftest import Observed

NOTHING: dict[str, list[str]] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}


def arm_of(seen: dict[str, Any], name: str) -> dict[str, Any]:
    """One arm of the run's summary."""
    assert seen["exit"] == 0, seen["said"]
    (arm,) = (each for each in seen["summary"]["arms"] if each["name"] == name)
    found: dict[str, Any] = arm
    return found


def invariants_of(arm: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The invariants of its verdict, by name."""
    return {each["name"]: each for each in arm["verdict"]["invariants"]}


@pytest.mark.parametrize(
    ("run", "arm"),
    [("run", "together"), ("run", "later"), ("marked run", "cubic"), ("marked run", "dctcp")],
)
@pytest.mark.parametrize("name", ["completeness", "no drops", "byte conservation", "classified"])
def test_an_invariant_of_the_run_holds(observed: Observed, run: str, arm: str, name: str) -> None:
    invariant = invariants_of(arm_of(observed(run), arm))[name]
    assert invariant["ok"], invariant


def test_all_iterations_are_measured(observed: Observed) -> None:
    arm = arm_of(observed("run"), "together")
    assert invariants_of(arm)["completeness"]["value"] == 2 * (1 + 3)
    assert arm["measured"]["iteration_s"]["mean"] > 0
    assert not arm["interrupted"]


def test_an_event_adds_latency_to_a_link(observed: Observed) -> None:
    """The last byte of every transfer comes later by what was added, and no acknowledgement of it
    is waited for."""
    seen = observed("run")
    (event,) = arm_of(seen, "later")["events"]
    (made,) = event["made"]
    assert event["at_s"] <= made["begun_s"] <= made["done_s"]
    before = [r["iteration_s"] for r in seen["iterations"] if r["end_s"] < made["begun_s"]]
    after = [r["iteration_s"] for r in seen["iterations"] if r["start_s"] > made["done_s"]]
    assert median(after) - median(before) > 0.75 * event["value"]


def test_without_root_a_run_marks_with_red(observed: Observed) -> None:
    seen = observed("marked run")
    for name in ("cubic", "dctcp"):
        (clause,) = arm_of(seen, name)["verdict"]["unenforced"]
        assert "no cgroups" in clause


@pytest.mark.parametrize("arm", ["cubic", "dctcp"])
def test_marks_are_counted_where_jobs_meet_and_nowhere_else(observed: Observed, arm: str) -> None:
    rows = [row for row in observed("marked run")["marks"] if row["arm"] == arm]
    middle = {"switch-left->switch-right", "switch-right->switch-left"}
    marked = {(row["port"], row["job"]) for row in rows if row["marked_packets"] > 0}
    assert marked == {(port, job) for port in middle for job in ("one", "two")}


@pytest.mark.parametrize("arm", ["cubic", "dctcp"])
def test_every_mark_is_received(observed: Observed, arm: str) -> None:
    seen = observed("marked run")
    marked = sum(row["marked_packets"] for row in seen["marks"] if row["arm"] == arm)
    assert sum(arm_of(seen, arm)["marked_packets"].values()) == marked
    assert seen["received_marks"][["cubic", "dctcp"].index(arm)] == marked


def test_every_connection_has_the_congestion_control_of_its_arm(observed: Observed) -> None:
    assert observed("marked run")["congestion_controls"] == [["cubic"], ["dctcp"]]


def test_marks_leave_dctcp_its_throughput(observed: Observed) -> None:
    unmarked = arm_of(observed("run"), "together")["measured"]["iteration_s"]["mean"]
    dctcp = arm_of(observed("marked run"), "dctcp")["measured"]["iteration_s"]["mean"]
    assert dctcp < 1.5 * unmarked


@pytest.mark.parametrize("run", ["run", "marked run"])
def test_a_run_leaves_nothing(observed: Observed, run: str) -> None:
    assert observed(run)["left"] == NOTHING
    assert observed("run")["records"] == []


def test_clean_removes_a_killed_run(observed: Observed) -> None:
    seen = observed("killed run")
    assert "ended_early" not in seen, seen["ended_early"]
    assert seen["left_by_kill"], "the kill left nothing to clean"
    assert seen["exit"] == 0, seen["said"]
    (cleaned,) = seen["cleaned"]["runs"]
    assert sorted(cleaned["namespaces"]) == sorted(seen["left_by_kill"])
    assert len(cleaned["cgroups"]) == 1
    assert seen["left"] == NOTHING
    assert seen["records"] == []


def test_clean_ends_whatever_is_in_the_runs_cgroup(observed: Observed) -> None:
    assert observed("killed run")["stranger_ended"]


def test_a_session_uses_the_hierarchy_that_it_finds(observed: Observed) -> None:
    seen = observed("v1 session")
    assert "/pids/" in seen["group"]
    assert seen["existed"]
    assert seen["left"] == NOTHING
