"""A finished arm, put together from what its jobs and networks gave."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.coordinator import JobRun
from emulator.measurement import ArmMeasurement, NetworkRecord, gather, record_of
from emulator.networks import plan_arm
from emulator.scale import ScalePlan
from emulator.timeshift import TimeShiftAgent
from emulator.verdict import Status
from netshaper.disciplines import FIRST_JOB_CLASS, ROOT_CLASS
from tests.unit.builders import make_arm, toy_pair
from traces.results import IterationSpan

SCALE = ScalePlan(10.0, 1e9, "assumed", 1e8, 300.0, "a test")
ARM = make_arm(toy_pair()[:1], iterations=3, warmup_iterations=1)
ANCHOR_S = 100.0


def measured_run(iterations: int) -> JobRun:
    agent = TimeShiftAgent(ANCHOR_S, 0.0, 1.0, adjustments=2)
    spans = [
        IterationSpan(ANCHOR_S + n, ANCHOR_S + n + 0.5, ANCHOR_S + n + 0.75)
        for n in range(iterations)
    ]
    return JobRun("one", [], iterations, agent=agent, measured=spans, lateness_s=[0.0])


def record(calibration: float = 1.0, sent: int = 800) -> NetworkRecord:
    """Every port sends ``sent`` bytes in the second second; switches pass all on."""
    (network,) = plan_arm(ARM, SCALE, "run1")
    samples: list[list[Any]] = []
    for moment, count in ((ANCHOR_S, 0), (ANCHOR_S + 1, sent)):
        for end in network.plan.ports.values():
            counters = [count, count // 100, 0, 0]
            by_class = {str(ROOT_CLASS): counters, str(FIRST_JOB_CLASS): counters}
            samples.append([moment, moment, end.namespace, end.device, by_class, {}])
    received: dict[str, dict[str, list[int]]] = {}
    for end in network.plan.ports.values():
        received.setdefault(end.namespace, {"lo": [0, 0]})[end.device] = [5, 5 + sent]
    rates = {str(e.port): e.shape.rate_bps * calibration for e in network.plan.ports.values()}
    report = {"samples": samples, "received": received, "interval_s": 0.04, "cpu_share": 0.1}
    return NetworkRecord(network, rates, report)


def gathered(iterations: int = 4, **changes: Any) -> ArmMeasurement:
    records = [changes.pop("record", record())]
    values: dict[str, Any] = {"cpu_shares": (0.5, 0.0), "interrupted": False} | changes
    shares = values.pop("cpu_shares")
    jobs = record_of(ARM, [measured_run(iterations)], ANCHOR_S)
    return gather(ARM, jobs, records, shares, ANCHOR_S, SCALE, **values)


def test_iterations_are_rows_from_the_anchor_on() -> None:
    found = gathered()
    assert ARM.total_iterations == 4
    assert [row.counted for row in found.iterations] == [False, True, True, True]
    assert [row.start_s for row in found.iterations] == [0.0, 1.0, 2.0, 3.0]
    assert found.iterations[1].iteration_s == pytest.approx(1.0)
    assert found.adjustments == {"one": 2}


def test_links_are_in_unscaled_units() -> None:
    found = gathered()
    assert len(found.links) == 10  # one job, ten ports, one interval
    assert {row.rate_bps for row in found.links} == {800 * 8 * SCALE.rate_divisor}
    assert {row.capacity_bps for row in found.links} == {1e9}


def test_sound_evidence_is_a_valid_verdict() -> None:
    assert gathered().verdict.status is Status.VALID


@pytest.mark.parametrize(
    ("changes", "failed"),
    [
        ({"iterations": 3}, "completeness"),
        ({"record": record(calibration=0.9)}, "link calibration"),
        ({"record": record(sent=10**9)}, "rate bound"),
        ({"cpu_shares": (0.01, 0.0)}, "CPU headroom"),
        ({"cpu_shares": (0.5, 0.5)}, "steal"),
    ],
)
def test_all_evidence_reaches_the_verdict(changes: dict[str, Any], failed: str) -> None:
    assert [invariant.name for invariant in gathered(**changes).verdict.failed] == [failed]


def test_what_was_not_enforced_is_said_and_fails_nothing() -> None:
    verdict = gathered(unenforced=("servers have no cgroups",)).verdict
    assert verdict.unenforced == ("servers have no cgroups",)
    assert verdict.status is Status.VALID


def test_an_interrupted_arm_says_so() -> None:
    assert gathered(iterations=0, interrupted=True).interrupted


def test_lateness_is_a_share_of_the_iterations_of_its_own_job() -> None:
    runs = [
        JobRun(job, [], 2, lateness_s=[0.001, 0.003], measured=_spans(iteration_s))
        for job, iteration_s in (("short", 0.01), ("long", 1.0))
    ]
    jobs = record_of(ARM, runs, ANCHOR_S)
    (network,) = [record()]
    found = gather(ARM, jobs, [network], (0.5, 0.0), ANCHOR_S, SCALE, interrupted=False)
    (late,) = [each for each in found.verdict.invariants if each.name == "timer lateness"]
    # The longest of four, nearly: 3 ms of 10 ms.
    assert late.value == pytest.approx(0.3, rel=0.05)
    assert not late.ok


def _spans(iteration_s: float) -> list[IterationSpan]:
    ends_s = [ANCHOR_S + iteration_s * n for n in (1, 2)]
    return [IterationSpan(end_s - iteration_s, end_s, end_s) for end_s in ends_s]
