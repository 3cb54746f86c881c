"""Emulated rounds where the machine has cgroup version 2 only: what holds however slow it is."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.rounds.worker_starter import GUARD_BYTES
from tests.guest.conftest import Observed
from tests.kernel.emulated_cluster import divisors

STRIDE = 30.0
ROUND_S = 150.0
CACHE_BYTES = int(20e9 / divisors(STRIDE).memory)
PAGE_BYTES = 4096
QUOTA_ERROR = 0.05
COMMAND, PREPARING, READING = "c3", "a1", "b2"


def used_cpus(progress: dict[str, Any]) -> float:
    """CPUs of the emulated server that a job on one server used over a round."""
    (use,) = progress["use"]
    return float(use["cpu_s"]) / ROUND_S


def test_whoever_exceeds_its_memory_is_out_of_memory_and_no_other(observed: Observed) -> None:
    first = observed("v2 rounds")["rounds"][0]
    for job in ("d4", "e5"):  # a command and an input pipeline
        assert first[job]["state"] == "out-of-memory", first[job]
        assert "memory guard" in first[job]["reason"]
    assert first[COMMAND]["state"] == "running"


def test_a_command_is_held_to_what_its_lease_gives_and_changes_with_it(observed: Observed) -> None:
    first, *after = (each[COMMAND] for each in observed("v2 rounds")["rounds"][:3])
    few = 4.0 * (1 + QUOTA_ERROR)
    assert used_cpus(first) > few, "it would not have used more than the second lease gives"
    for progress in after:
        assert 0 < used_cpus(progress) <= few
        assert progress["use"][0]["throttled_s"] > 0


def test_iterations_of_a_command_are_counted(observed: Observed) -> None:
    for progress in (each[COMMAND] for each in observed("v2 rounds")["rounds"][:3]):
        assert progress["iterations"] > 0
        assert progress["iterations"] % STRIDE == 0


def test_a_lease_changes_in_place(observed: Observed) -> None:
    seen = observed("v2 rounds")
    quotas = [each["job1-server0-loader"]["cpu.max"].split() for each in seen["limits"]]
    assert [int(quota) / int(period) for quota, period in quotas] == [2.0 / 20, 4.0 / 20]
    guard_bytes = (CACHE_BYTES + GUARD_BYTES) // PAGE_BYTES * PAGE_BYTES
    assert {int(each["job1-server0-loader"]["memory.max"]) for each in seen["limits"]} == {
        guard_bytes
    }
    before, after = seen["workers"]
    assert len(before) == 1
    assert before == after, "a worker that stays on its server is not restarted"
    for number, cpus in ((1, 2.0), (2, 2.0), (3, 4.0)):
        progress = seen["rounds"][number][PREPARING]
        assert progress["use"][0]["enforced_cpus"] == cpus
        assert progress["iterations"] > 0


def test_a_killed_worker_and_a_killed_group_lose_their_round_and_nothing_else(
    observed: Observed,
) -> None:
    seen = observed("v2 rounds")
    states = [{job: each["state"] for job, each in outcome.items()} for outcome in seen["rounds"]]
    assert states[1:] == [
        {PREPARING: "running", READING: "running", COMMAND: "running"},
        {PREPARING: "running", READING: "requeued", COMMAND: "running"},
        {PREPARING: "running", READING: "running", COMMAND: "requeued"},
    ]
    for outcome, job in ((seen["rounds"][2], READING), (seen["rounds"][3], COMMAND)):
        assert outcome[job]["reason"] == "the worker on server 1 ended"
        assert outcome[job]["iterations"] == 0


@pytest.mark.parametrize("name", ["no drops", "byte conservation", "classified", "CPU quotas"])
def test_an_invariant_of_the_rounds_holds(observed: Observed, name: str) -> None:
    assert invariant(observed("v2 rounds"), name)["ok"]


def test_the_verdict_counts_the_lost_workers(observed: Observed) -> None:
    seen = observed("v2 rounds")
    assert invariant(seen, "no worker lost")["value"] == 2
    assert seen["verdict"]["unenforced"] == []


def invariant(seen: dict[str, Any], name: str) -> dict[str, Any]:
    """One of the verdict's."""
    (found,) = (each for each in seen["verdict"]["invariants"] if each["name"] == name)
    return dict(found)


def test_clean_removes_what_a_killed_controller_left(observed: Observed) -> None:
    seen = observed("v2 rounds")
    assert all(seen["left_by_kill"].values()), "the kill left nothing to clean"
    assert seen["exit"] == 0, seen["said"]
    assert not any(seen["left"].values())
    assert seen["handed_on_as_before"]
