"""Scenarios in which a mechanism divides the CPUs and the memory of servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import SCENARIO, edited, line_of, write_scenario
from tests.unit.traces.scenarios import refusal
from traces.scenario import load_scenario
from traces.server_pool import ServerGroup

DIVIDED = """\
name: divided
cluster: {preset: single-switch, servers: 3, rate: 50 Gbit/s, gpus: 2, cpus: 6, memory: 125 GB}
workload:
  jobs:
    - {id: image, profile: vgg16, workers: 3, input_pipeline: res18}
    - {id: other, profile: bert, workers: 3}
scheduler: {placement: themis, mechanism: tune}
arms:
  tune: {}
  proportional: {scheduler: {mechanism: proportional}}
  none: {scheduler: {mechanism: none}}
"""


def test_a_scenario_with_a_mechanism_is_read_whole(tmp_path: Path) -> None:
    tune, proportional, none = load_scenario(write_scenario(tmp_path, DIVIDED)).arms
    assert [arm.scheduler.mechanism for arm in (tune, proportional, none)] == [
        "tune", "proportional", "none",
    ]  # fmt: skip
    assert tune.resources == proportional.resources == ServerGroup(3, 2, 6.0, 125e9)
    assert none.resources is None
    image, other = tune.jobs
    assert image.input_pipeline is not None
    assert image.input_pipeline.model == "res18"
    assert (other.input_pipeline, image.share, other.share) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "key", "line", "problem", "allowed"),
    [
        pytest.param(
            edited(DIVIDED, ", cpus: 6", ""),
            "cluster",
            "preset: single-switch",
            "a mechanism has nothing to divide",
            "cpus and memory of a server",
            id="no cpus",
        ),
        pytest.param(
            edited(DIVIDED, ", memory: 125 GB", ""),
            "cluster",
            "preset: single-switch",
            "a mechanism has nothing to divide",
            "cpus and memory of a server",
            id="no memory",
        ),
        pytest.param(
            edited(SCENARIO, "arms:", "scheduler: {mechanism: tune}\narms:"),
            "scheduler.mechanism",
            "mechanism: tune",
            "jobs that name their servers have no scheduler that divides",
            "none, or another scheduler.placement",
            id="given servers",
        ),
        pytest.param(
            edited(DIVIDED, "mechanism: proportional", "mechanism: opt"),
            "arms.proportional.scheduler.mechanism",
            "mechanism: opt",
            "'opt' is not known",
            "'none', 'proportional' or 'tune'",
            id="an unknown mechanism",
        ),
        pytest.param(
            edited(DIVIDED, "input_pipeline: res18", "input_pipeline: vgg16"),
            "workload.jobs.0.input_pipeline",
            "id: image",
            "no input pipeline is known of a model 'vgg16'",
            "alexnet",
            id="an unknown pipeline",
        ),
        pytest.param(
            edited(DIVIDED.partition("arms:")[0], ", mechanism: tune", ""),
            "cluster.cpus",
            "cpus: 6",
            "'cpus' changes nothing",
            "a scheduler.mechanism other than 'none'",
            id="CPUs that nobody divides",
        ),
        pytest.param(
            edited(
                DIVIDED.partition("scheduler:")[0] + "scheduler: {placement: themis}\n",
                ", cpus: 6, memory: 125 GB",
                "",
            ),
            "workload.jobs.0.input_pipeline",
            "id: image",
            "'input_pipeline' changes nothing",
            "a scheduler.mechanism other than 'none'",
            id="an input pipeline that nobody gives CPUs",
        ),
        pytest.param(
            edited(
                DIVIDED,
                "none: {scheduler: {mechanism: none}}",
                "none: {scheduler: {mechanism: none}, workload: {jobs: "
                "[{id: image, profile: vgg16, workers: 3, input_pipeline: res18}]}}",
            ),
            "arms.none.workload.jobs.0.input_pipeline",
            "none: {scheduler",
            "'input_pipeline' changes nothing",
            "a scheduler.mechanism other than 'none'",
            id="an arm's input pipeline that it gives no CPUs",
        ),
        pytest.param(
            edited(DIVIDED, "cpus: 6", "cpus: 0"),
            "cluster.cpus",
            "cpus: 0",
            "0 is not allowed here",
            "greater than 0",
            id="no CPU at all",
        ),
        pytest.param(
            edited(DIVIDED, "memory: 125 GB", "memory: 125"),
            "cluster.memory",
            "memory: 125",
            "has no unit",
            "such as '500 GB'",
            id="memory without a unit",
        ),
    ],
)
def test_what_cannot_be_divided_is_refused_where_it_stands(
    tmp_path: Path, text: str, key: str, line: str, problem: str, allowed: str
) -> None:
    error = refusal(tmp_path, text)
    assert error.key == key
    assert error.line == line_of(text, line)
    assert problem in error.problem
    assert allowed in str(error.allowed)
