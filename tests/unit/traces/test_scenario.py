"""A scenario is read whole, and each of its arms is its base with changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import SCENARIO, edited, make_profile, write_scenario
from tests.unit.traces.scenarios import JOB_B
from traces.arm import Job
from traces.cluster import Sharing
from traces.scenario import load_scenario


def test_every_arm_is_the_base_with_its_changes(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    arms = {arm.name: arm for arm in scenario.arms}
    assert list(arms) == ["dedicated", "together", "shifted", "fifo"]
    assert [arm.dedicated for arm in scenario.arms] == [True, False, False, False]
    assert [arm.interleaver for arm in scenario.arms] == ["none", "none", "cassini", "none"]
    assert arms["fifo"].cluster.sharing is Sharing.FIFO
    assert arms["together"].cluster.sharing is Sharing.FAIR
    for arm in scenario.arms:
        assert [job.id for job in arm.jobs] == ["job-a", "job-b"]
        assert (arm.iterations, arm.warmup_iterations) == (4, 1)
        assert {link.rate_bps for link in arm.cluster.links} == {50e9}


def test_the_head_of_the_file_is_kept(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path))
    assert (scenario.name, scenario.seed) == ("toy", 7)
    assert scenario.description == "Two small jobs on one link."
    assert scenario.text == SCENARIO


def test_without_arms_the_scenario_is_its_only_arm(tmp_path: Path) -> None:
    head = SCENARIO[: SCENARIO.index("arms:")]
    (arm,) = load_scenario(write_scenario(tmp_path, head)).arms
    assert arm.name == "toy"


def test_what_is_left_out_has_its_default(tmp_path: Path) -> None:
    text = (
        "name: least\ncluster: {rate: 1 Gbit/s}\n"
        "workload: {jobs: [{id: a, profile: vgg19, servers: [left0, right0]}]}\n"
    )
    scenario = load_scenario(write_scenario(tmp_path, text))
    (arm,) = scenario.arms
    assert scenario.scale.rate_divisor == "auto"
    assert (arm.iterations, arm.warmup_iterations, arm.interleaver) == (30, 3, "none")
    assert arm.jobs[0].start_s == 0.0


def test_rates_and_starts_come_with_their_units(tmp_path: Path) -> None:
    text = edited(SCENARIO, JOB_B, f"{JOB_B}\n      start: 50 ms")
    text = edited(text, "rate: 50 Gbit/s", "rate: 50 Gbit/s\n  middle_rate: 3 GB/s")
    (arm, *_) = load_scenario(write_scenario(tmp_path, text)).arms
    assert arm.jobs[1].start_s == 0.05
    assert {link.rate_bps for link in arm.cluster.links} == {50e9, 24e9}


def test_an_arm_may_bring_its_own_jobs(tmp_path: Path) -> None:
    own = "together: {workload: {jobs: [{id: c, profile: vgg19, servers: [left0, left1]}]}}"
    scenario = load_scenario(write_scenario(tmp_path, edited(SCENARIO, "together: {}", own)))
    assert [job.id for job in scenario.arms[1].jobs] == ["c"]
    assert [job.id for job in scenario.arms[0].jobs] == ["job-a", "job-b"]


def test_a_job_has_one_server_for_each_worker() -> None:
    with pytest.raises(ValueError, match="1 servers for a profile of 2 workers"):
        Job(id="x", profile=make_profile(workers=2), servers=("left0",))
