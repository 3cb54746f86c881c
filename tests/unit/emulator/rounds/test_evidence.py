"""What workers report becomes times of the emulated cluster."""

from __future__ import annotations

from emulator.cpu_time import CpuTime
from emulator.rounds.clock import RoundClock
from emulator.rounds.evidence import RunEvidence, StepSpan
from tests.unit.emulator.rounds.running import ITERATIONS_PER_STEP, report_of, running_job

SPANS = [[100.5, 101.0, 0.25], [101.0, 102.0, 0.0]]


def test_times_are_those_of_the_emulated_cluster() -> None:
    evidence = RunEvidence(RoundClock(stride=10.0))
    evidence.add_job(running_job(report_of(2.0, SPANS)), 3000.0, 100.0, 5.0)
    assert evidence.spans == [
        StepSpan("job", 0, 3005.0, 3010.0, 2.5, ITERATIONS_PER_STEP),
        StepSpan("job", 0, 3010.0, 3020.0, 0.0, ITERATIONS_PER_STEP),
    ]
    assert list(evidence.lateness_s) == [1e-5]


def test_spans_that_are_taken_are_gone() -> None:
    evidence = RunEvidence(RoundClock(stride=10.0))
    evidence.add_job(running_job(report_of(2.0, SPANS)), 0.0, 100.0, 5.0)
    assert len(evidence.take_spans()) == 2
    assert evidence.take_spans() == []


def test_a_worker_that_has_said_nothing_adds_nothing() -> None:
    evidence = RunEvidence(RoundClock(stride=10.0))
    evidence.add_job(running_job(None, report_of(2.0, SPANS)), 0.0, 100.0, 5.0)
    assert {span.server for span in evidence.spans} == {1}


def test_of_the_box_only_what_passed_in_rounds_counts() -> None:
    evidence = RunEvidence(RoundClock(stride=10.0))
    evidence.add_box(CpuTime(total=100, idle=50, steal=1), CpuTime(total=200, idle=90, steal=3))
    evidence.add_box(CpuTime(total=900, idle=80, steal=3), CpuTime(total=950, idle=90, steal=4))
    assert (evidence.cpu_ticks, evidence.idle_ticks, evidence.steal_ticks) == (150, 50, 3)
