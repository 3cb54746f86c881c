"""Models from observed iterations: what is pinned, what is recovered, and the slope of the loss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.pollux.fit import Observation, _loss, fit
from harness.scheduling.pollux.goodput import (
    NO_TIME_S,
    IterationModel,
    gradient_s,
    overlapped_s,
    synchronisation_s,
)
from tests.unit.harness.scheduling.pollux.random_problems import random_model

PLACES = [(1, 1), (1, 2), (1, 4), (2, 4), (2, 8), (4, 16), (8, 8)]
BATCHES = [8, 16, 32, 64]


def observed(model: IterationModel, servers: int, gpus: int, per_gpu: int) -> Observation:
    """What ``model`` says, without error."""
    alone_s = gradient_s(model, per_gpu)
    shared_s = synchronisation_s(model, gpus, servers > 1)
    both_s = overlapped_s(alone_s, shared_s, model.gamma)
    return Observation(servers, gpus, per_gpu, alone_s, both_s)


def test_one_iteration_on_one_gpu() -> None:
    """Half of it constant; nothing for the network, which is a tenth slower between servers."""
    model = fit([Observation(1, 1, 10, 0.5, 0.5)])
    assert model.alpha_grad_s == pytest.approx(0.25)
    assert model.beta_grad_s == pytest.approx(0.025, rel=1e-3)
    assert (model.alpha_local_s, model.beta_local_s) == (NO_TIME_S, NO_TIME_S)
    assert model.alpha_node_s == pytest.approx(1.1 * NO_TIME_S)
    assert model.beta_node_s == pytest.approx(1.1 * NO_TIME_S)


def test_two_batches_tell_what_is_constant() -> None:
    model = fit([Observation(1, 1, 10, 0.5, 0.5), Observation(1, 1, 30, 0.9, 0.9)])
    assert model.alpha_grad_s == pytest.approx(0.3, rel=0.02)
    assert model.beta_grad_s == pytest.approx(0.02, rel=0.02)


def test_before_it_has_been_seen_another_server_is_a_tenth_further() -> None:
    model = fit([Observation(1, 1, 10, 0.5, 0.5), Observation(1, 2, 10, 0.5, 0.7)])
    assert model.alpha_local_s == pytest.approx(0.2, rel=0.05)
    assert model.alpha_node_s == pytest.approx(1.1 * model.alpha_local_s)
    assert model.beta_local_s == NO_TIME_S


def test_between_servers_two_gpus_say_nothing_of_retrogression() -> None:
    model = fit([Observation(1, 1, 10, 0.5, 0.5), Observation(2, 2, 10, 0.5, 0.7)])
    assert model.alpha_node_s == pytest.approx(0.2, rel=0.05)
    assert model.beta_node_s == NO_TIME_S
    assert model.alpha_local_s == NO_TIME_S
    third = Observation(3, 3, 10, 0.5, 0.8)
    seen = fit([Observation(1, 1, 10, 0.5, 0.5), Observation(2, 2, 10, 0.5, 0.7), third])
    assert seen.beta_node_s > 0.01


def test_without_an_observation_there_is_no_model() -> None:
    with pytest.raises(ValueError, match="needs an observation"):
        fit([])


def test_what_was_observed_is_predicted() -> None:
    """The search for a model is local: of a few it stops short, which the shares allow for."""
    worst = []
    for seed in range(30):
        true = random_model(np.random.default_rng(seed))
        seen = [observed(true, *place, batch) for place in PLACES for batch in BATCHES]
        found = fit(seen)
        assert found == fit(seen)
        assert min(found[:6]) >= NO_TIME_S
        assert 1 <= found.gamma <= 10
        again = [observed(found, one.num_servers, one.num_gpus, one.per_gpu) for one in seen]
        worst.append(np.max(np.abs(np.array(again) / np.array(seen) - 1)))
    assert np.median(worst) < 0.02
    assert np.percentile(worst, 80) < 0.1


@given(st.integers(0, 10**6))
def test_the_slope_is_that_of_the_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, at = random_model(rng), np.array(random_model(rng))
    seen = np.array([observed(true, *place, batch) for place in PLACES for batch in BATCHES[:2]])
    seen = seen.T.copy()
    _, slope = _loss(at, seen)
    for parameter in range(7):
        step = np.zeros(7)
        step[parameter] = 1e-6 * at[parameter]
        rise = _loss(at + step, seen)[0] - _loss(at - step, seen)[0]
        expected = rise / (2 * step[parameter])
        # Compared by what a change of the parameter by its own size would do.
        assert slope[parameter] * at[parameter] == pytest.approx(
            expected * at[parameter], rel=1e-4, abs=1e-6
        )


def test_an_error_that_is_gone_does_not_stop_the_search_for_the_other() -> None:
    """The gradients' time is met exactly before the first step."""
    model = fit([Observation(1, 1, 10, 0.5, 0.5), Observation(4, 4, 10, 0.5, 4.5)])
    assert model.alpha_node_s + 2 * model.beta_node_s == pytest.approx(4.0, rel=0.01)


def test_no_error_has_no_slope() -> None:
    flat = np.array([[1.0], [1.0], [10.0], [0.5], [0.5]])
    loss, slope = _loss(np.array([0.25, 0.025, 1, NO_TIME_S, 1, NO_TIME_S, 1.0]), flat)
    assert loss == pytest.approx(0, abs=1e-7)
    assert slope == pytest.approx(0, abs=1e-3)
