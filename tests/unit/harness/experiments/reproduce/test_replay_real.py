"""Real jobs against their replays: what is run, and what is made of the times."""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator.verdict import judge
from harness.experiments.reproduce.recipes.replay_real import (
    RealOrReplayed,
    drawings_of,
    errors_of,
    figures_of,
)
from harness.experiments.reproduce.replay_real.jobs import (
    DATA_PARALLEL,
    LATER_BATCHES_S,
    PIPELINE_PARALLEL,
    RATE_BPS,
    ProfiledJob,
)
from harness.experiments.reproduce.replay_real.scenarios import (
    ALONE,
    BESIDE,
    PLACES,
    REAL,
    REPLAYED,
    SHIFTED,
    arm_name,
    scenario,
)
from traces.demand import Demand, Transfer
from traces.model_profile import ModelProfile

COMPUTE_S, SENT_BYTES = 0.2, 2e6


def profile(name: str) -> ModelProfile:
    sent = Transfer(ready_s=COMPUTE_S, bytes=SENT_BYTES)
    return ModelProfile(
        model=name,
        num_gpus=2,
        demand=Demand(compute_s=COMPUTE_S, transfers=(sent,)),
        provenance="measured",
        source="a test",
    )


def test_each_place_has_the_job_real_and_replayed_and_the_other_one_always_real(
    tmp_path: Path,
) -> None:
    known = {job.name: profile(job.name) for job in (DATA_PARALLEL, PIPELINE_PARALLEL)}
    made = scenario(PIPELINE_PARALLEL, known, 20, tmp_path)
    arms = {arm.name: arm for arm in made.arms}
    assert list(arms) == [arm_name(place, kind) for place in PLACES for kind in (REAL, REPLAYED)]
    for place, others in ((ALONE, 0), (BESIDE, 1), (SHIFTED, 1)):
        for kind in (REAL, REPLAYED):
            tested, *other = arms[arm_name(place, kind)].jobs
            assert (tested.command is not None) == (kind == REAL)
            assert [job.command is not None for job in other] == [True] * others
            longer_s = LATER_BATCHES_S if place == BESIDE else 0.0
            for job in other:
                assert job.profile.demand.compute_s == pytest.approx(COMPUTE_S + longer_s)
            wanted = "cassini" if place == SHIFTED else "none"
            assert arms[arm_name(place, kind)].interleaver == wanted
    assert {link.rate_bps for arm in made.arms for link in arm.cluster.links} == {RATE_BPS}


def measured(factor: float) -> dict[tuple[str, str, int], RealOrReplayed]:
    """Replays that take ``factor`` times as long, in two repetitions."""
    return {
        (DATA_PARALLEL.name, arm_name(place, kind), repetition): RealOrReplayed(
            0.4 * (factor if kind == REPLAYED else 1.0), judge((), ())
        )
        for place in PLACES
        for kind in (REAL, REPLAYED)
        for repetition in (1, 2)
    }


def test_an_error_is_the_replays_against_the_real_jobs_by_repetition() -> None:
    assert errors_of(DATA_PARALLEL.name, BESIDE, measured(1.02)) == pytest.approx([0.02, 0.02])
    assert errors_of(PIPELINE_PARALLEL.name, BESIDE, measured(1.02)) == []


@pytest.mark.parametrize(("factor", "ok"), [(1.02, True), (0.98, True), (1.04, False)])
def test_the_bound_is_three_per_cent_either_way(factor: float, ok: bool) -> None:
    known = {DATA_PARALLEL.name: ProfiledJob(DATA_PARALLEL, profile("data_parallel"), ())}
    figures = list(figures_of(known, measured(factor), repeated=0))
    replays = [figure for figure in figures if "replay against the real job" in figure.name]
    assert [figure.ok for figure in replays] == [ok] * 3
    (drawing,) = drawings_of(known, measured(factor))
    assert [curve.name for curve in drawing.curves] == [REAL, REPLAYED]
