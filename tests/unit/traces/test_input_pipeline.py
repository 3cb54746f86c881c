"""What a share of CPUs and memory makes of a job's iterations."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.builders import (
    GBIT,
    TOY_ALONE_S,
    TOY_COMPUTE_S,
    make_job,
    make_profile,
    toy_transfer,
)
from traces.demand import Demand, demand_curve
from traces.errors import BadInputError
from traces.input_pipeline import (
    Share,
    fair_share,
    find_pipeline,
    input_costs,
    input_s,
    memory_matters,
    with_input,
)
from traces.model_profile import profile_document
from traces.server_pool import ServerGroup
from traces.stage_reconstruction import storage_rate_of

RES18 = find_pipeline("res18")
FAIR = Share(3.0, 62.5e9)
DEMAND = Demand(TOY_COMPUTE_S, (toy_transfer(),))

cpus = st.floats(min_value=0.1, max_value=24)
memory = st.floats(min_value=62.5e9, max_value=250e9)


@pytest.mark.parametrize(
    ("with_cpus", "relative"), [(1.0, 0.37), (3.0, 1.0), (5.0, 1.53), (9.0, 2.4), (24.0, 2.4)]
)
def test_it_is_slower_than_the_gpu_as_the_published_model_is(
    with_cpus: float, relative: float
) -> None:
    found = input_s(RES18, 0.5, Share(with_cpus, 62.5e9))
    assert found == pytest.approx(0.5 * 2.4 / relative)


@given(cpus, memory, cpus, memory)
def test_more_is_never_slower(a: float, b: float, more: float, more_memory: float) -> None:
    pipeline = find_pipeline("m5")
    less = input_s(pipeline, 1.0, Share(a, b))
    assert input_s(pipeline, 1.0, Share(a + more, b + more_memory)) <= less * (1 + 1e-9)
    assert less >= 1.0 - 1e-9


def test_without_any_cpu_there_is_no_sample() -> None:
    assert math.isinf(input_s(RES18, 1.0, Share(0.0, 62.5e9)))
    with pytest.raises(ValueError, match="input_s is inf"):
        with_input(DEMAND, RES18, Share(0.0, 62.5e9))


def test_what_hides_behind_compute_and_transfers_costs_nothing() -> None:
    for share, period_s in (
        (Share(9.0, 62.5e9), TOY_ALONE_S),
        (Share(6.0, 62.5e9), TOY_ALONE_S),  # 137 ms
        (FAIR, 2.4 * TOY_COMPUTE_S),
    ):
        curve = demand_curve(with_input(DEMAND, RES18, share), GBIT)
        assert curve.period_s == pytest.approx(period_s)
        assert curve.phases == demand_curve(DEMAND, GBIT).phases


@given(cpus)
def test_the_stages_take_what_the_input_takes(with_cpus: float) -> None:
    share = Share(with_cpus, 62.5e9)
    costs = input_costs(DEMAND, RES18, share)
    assert costs.gpu_s == DEMAND.compute_s
    taken_s = costs.iteration_s(share.cpus, share.memory_bytes, storage_rate_of(RES18))
    assert taken_s == pytest.approx(input_s(RES18, DEMAND.compute_s, share))


def test_a_model_that_nobody_published_is_named() -> None:
    with pytest.raises(BadInputError) as caught:
        find_pipeline("vgg19")
    assert "'vgg19'" in caught.value.problem
    assert "res18" in str(caught.value.allowed)


def test_memory_matters_where_a_larger_cache_saves_reads() -> None:
    server = ServerGroup(1, 8, 24.0, 500e9)
    assert fair_share(server) == FAIR
    assert memory_matters(find_pipeline("alexnet"), server)
    assert not memory_matters(RES18, server)
    assert not memory_matters(find_pipeline("alexnet"), ServerGroup(1, 2, 6.0, 125e9))


def test_a_job_with_a_share_is_the_same_job_with_another_demand() -> None:
    job = make_job("one").model_copy(update={"input_pipeline": RES18})
    assert job.with_share(None) is job
    slow = job.with_share(FAIR)
    assert slow.share == FAIR
    assert slow.profile.demand.input_s == pytest.approx(2.4 * TOY_COMPUTE_S)
    assert slow.with_share(Share(9.0, 62.5e9)).profile.demand.input_s == pytest.approx(
        TOY_COMPUTE_S
    )
    assert make_job("two").with_share(FAIR).profile.demand.input_s == 0.0


def test_a_profile_is_written_without_what_a_share_made_of_it() -> None:
    profile = make_profile(with_input(DEMAND, RES18, FAIR))
    assert profile_document(profile) == profile_document(make_profile(DEMAND))
