"""Whole runs on a stock kernel: what must hold however slow the machine. No times, no status."""

from __future__ import annotations

from typing import Any

import pytest

from tests.guest.conftest import Observed

NOTHING: dict[str, list[str]] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}


def only_arm(seen: dict[str, Any]) -> dict[str, Any]:
    """The one arm of the run's summary."""
    assert seen["exit"] == 0, seen["said"]
    (arm,) = seen["summary"]["arms"]
    found: dict[str, Any] = arm
    return found


@pytest.mark.parametrize("name", ["completeness", "no drops", "byte conservation", "classified"])
def test_an_invariant_of_the_run_holds(observed: Observed, name: str) -> None:
    invariants = {each["name"]: each for each in only_arm(observed("run"))["verdict"]["invariants"]}
    assert invariants[name]["ok"], invariants[name]


def test_all_iterations_are_measured(observed: Observed) -> None:
    arm = only_arm(observed("run"))
    invariants = {each["name"]: each for each in arm["verdict"]["invariants"]}
    assert invariants["completeness"]["value"] == 2 * (1 + 3)
    assert arm["measured"]["iteration_s"]["mean"] > 0
    assert not arm["interrupted"]


def test_a_run_leaves_nothing(observed: Observed) -> None:
    seen = observed("run")
    assert seen["left"] == NOTHING
    assert seen["records"] == []


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
