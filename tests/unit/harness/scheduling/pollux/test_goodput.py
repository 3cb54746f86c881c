"""Goodput: by hand, against the equations written over whole arrays, and what always holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.pollux.goodput import (
    Batch,
    BatchLimits,
    GradientNoise,
    IterationModel,
    best_batch,
    efficiency,
    gain,
    overlapped_s,
    split,
    synchronisation_s,
    throughput,
)
from tests.unit.harness.scheduling.pollux.random_problems import random_learned

# Gradients take 0.1 s + 0.01 s an example; synchronisation 0.2 s, and 0.05 s for each GPU above 2.
BY_HAND = IterationModel(0.1, 0.01, 0.2, 0.05, 0.1, 0.02, 1.0)
LIMITS = BatchLimits(initial=32, largest=512, gpu_least=8, gpu_most=64)
seeds = st.integers(0, 10**6)


def test_throughput_by_hand() -> None:
    """4 GPUs of 20 examples: 0.3 s for gradients, 0.3 s to synchronise; then two steps more."""
    assert throughput(BY_HAND, 4, True, Batch(20, 0)) == pytest.approx(80 / 0.6)
    assert throughput(BY_HAND, 4, False, Batch(20, 0)) == pytest.approx(80 / 0.44)
    assert throughput(BY_HAND, 4, True, Batch(20, 2)) == pytest.approx(240 / (2 * 0.3 + 0.6))
    assert throughput(BY_HAND, 1, False, Batch(20, 0)) == pytest.approx(20 / 0.3)


def test_synchronisation_is_of_the_slowest_link() -> None:
    assert synchronisation_s(BY_HAND, 1, False) == pytest.approx(0, abs=1e-7)
    assert synchronisation_s(BY_HAND, 2, False) == pytest.approx(0.1)
    assert synchronisation_s(BY_HAND, 2, True) == pytest.approx(0.2)
    assert synchronisation_s(BY_HAND, 6, True) == pytest.approx(0.4)


def test_efficiency_by_hand() -> None:
    """With as much variance as signal, a batch four times as large gives 1.6 times the progress."""
    assert gain(GradientNoise(1.0, 1.0), 4.0) == pytest.approx(2 / 1.25)
    assert efficiency(GradientNoise(1.0, 1.0), 4.0) == pytest.approx(0.4)
    assert gain(GradientNoise(0.0, 0.0), 4.0) == 1
    assert gain(GradientNoise(0.0, 1.0), 4.0) == 4
    assert gain(GradientNoise(1.0, 0.0), 4.0) == 1


def test_a_batch_is_split_into_as_few_steps_as_fit() -> None:
    assert split(64.0, 2, LIMITS) == Batch(32, 0)
    assert split(65.0, 2, LIMITS) == Batch(33, 0)
    assert split(260.0, 2, LIMITS) == Batch(44, 2)
    assert split(128.0 + 1e-9, 2, LIMITS) == Batch(64, 0)


def test_one_gpu_estimates_the_variance_from_two_steps() -> None:
    assert split(32.0, 1, LIMITS) == Batch(32, 0)
    assert split(40.0, 1, LIMITS) == Batch(20, 1)


def test_too_many_gpus_for_the_largest_batch_have_no_goodput() -> None:
    noise = GradientNoise(1.0, 1.0)
    assert best_batch(BY_HAND, noise, LIMITS, 64, True)[0] > 0
    assert best_batch(BY_HAND, noise, LIMITS, 65, True)[0] == 0


def test_noisy_gradients_make_large_batches_worth_while() -> None:
    _, exact = best_batch(BY_HAND, GradientNoise(1.0, 0.0), LIMITS, 4, True)
    _, noisy = best_batch(BY_HAND, GradientNoise(0.0, 1.0), LIMITS, 4, True)
    assert exact == Batch(8, 0)
    assert 4 * noisy.per_gpu * (noisy.accumulation_steps + 1) >= 0.95 * LIMITS.largest


@given(st.floats(1e-6, 1e3), st.floats(1e-6, 1e3), st.floats(1, 10))
def test_overlap_is_between_the_longer_and_the_sum(one: float, other: float, gamma: float) -> None:
    both = overlapped_s(one, other, gamma)
    assert max(one, other) * (1 - 1e-12) <= both <= (one + other) * (1 + 1e-12)
    assert both == pytest.approx(overlapped_s(other, one, gamma))
    assert both == pytest.approx((one**gamma + other**gamma) ** (1 / gamma))


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(1, 1e3), st.floats(1, 1e3))
def test_larger_batches_gain_more_and_less_for_each_example(
    square: float, variance: float, one: float, other: float
) -> None:
    noise = GradientNoise(square, variance)
    small, large = sorted((one, other))
    slack = 1 + 1e-9
    assert 1 <= gain(noise, small) * slack <= gain(noise, large) * slack**2
    assert gain(noise, large) <= large * slack
    assert efficiency(noise, large) <= efficiency(noise, small) * slack <= slack**2


@given(seeds, st.integers(1, 40), st.booleans())
def test_the_best_batch_is_the_best_of_fifty(seed: int, num_gpus: int, several: bool) -> None:
    """By the equations over arrays, as the paper and its authors' code write them."""
    learned = random_learned(np.random.default_rng(seed))
    model, noise, limits = learned.model, learned.noise, learned.limits
    several = several and num_gpus > 1
    goodput, batch = best_batch(model, noise, limits, num_gpus, several)
    least = max(limits.initial, limits.gpu_least * num_gpus)
    if least > limits.largest:
        assert goodput == 0
        return
    examples = np.geomspace(least, limits.largest, 50)
    steps = np.ceil(examples / num_gpus / limits.gpu_most - 1e-8)
    if num_gpus == 1:
        steps = np.where(examples > limits.initial + 1e-8, np.maximum(steps, 2), steps)
    per_gpu = np.ceil(examples / num_gpus / steps - 1e-8)
    alone_s = model.alpha_grad_s + model.beta_grad_s * per_gpu
    alpha_s, beta_s = 1e-8, 0.0
    if several:
        alpha_s, beta_s = model.alpha_node_s, model.beta_node_s
    elif num_gpus > 1:
        alpha_s, beta_s = model.alpha_local_s, model.beta_local_s
    shared_s = alpha_s + beta_s * max(num_gpus - 2, 0)
    last_s = (alone_s**model.gamma + shared_s**model.gamma) ** (1 / model.gamma)
    scale = num_gpus * per_gpu * steps / limits.initial
    phi = noise.variance / noise.square * limits.initial
    goodputs = (
        scale * limits.initial / ((steps - 1) * alone_s + last_s)
        * (phi + limits.initial) / (phi + scale * limits.initial)
    )  # fmt: skip
    goodputs[(per_gpu < limits.gpu_least) | (per_gpu > limits.gpu_most)] = 0
    assert goodput == pytest.approx(goodputs.max(), rel=1e-6)
    if goodput > 0:
        assert limits.gpu_least <= batch.per_gpu <= limits.gpu_most
        chosen = num_gpus * batch.per_gpu * (batch.accumulation_steps + 1)
        assert chosen >= limits.initial
        assert chosen < limits.largest + num_gpus * (batch.accumulation_steps + 1)
        assert math.isfinite(goodput)
