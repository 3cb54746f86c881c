"""Goodput: training throughput times the statistical efficiency of the batch. Pure.

(Pollux, OSDI'21, sections 3.1 and 3.2.) A job on K GPUs takes K * m * (s + 1) examples for one
iteration: batches of m on each GPU, accumulated over s steps before the one that synchronises.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from traces.compiled import compiled

NO_TIME_S = 1e-8
"""The least of each time: its logarithm has to exist."""

_SAMPLES = 50
_WHOLE = 1e-8  # how far above a whole number a quotient still counts as it


class IterationModel(NamedTuple):
    """How long an iteration takes: the parameters theta_sys (equations 9 to 11).

    *_grad_s: of the gradients of m examples, constant and for each. *_node_s, *_local_s: of their
    synchronisation over several servers and within one, constant and for each GPU beyond two.
    gamma: 1 where the two follow one another, up to 10 where they overlap all but wholly.
    """

    alpha_grad_s: float
    beta_grad_s: float
    alpha_node_s: float
    beta_node_s: float
    alpha_local_s: float
    beta_local_s: float
    gamma: float


class GradientNoise(NamedTuple):
    """|gradient|^2 and the variance of its estimate from the smallest batch, in the same unit."""

    square: float
    variance: float


class BatchLimits(NamedTuple):
    """Examples: a job's batch when it is submitted, its largest one, least and most on a GPU."""

    initial: int
    largest: int
    gpu_least: int
    gpu_most: int


class Batch(NamedTuple):
    """Examples on each GPU, and how many steps of them precede the one that synchronises."""

    per_gpu: int
    accumulation_steps: int


@compiled
def gradient_s(model: IterationModel, per_gpu: float) -> float:
    """Time for the gradients of ``per_gpu`` examples."""
    return model.alpha_grad_s + model.beta_grad_s * per_gpu


@compiled
def synchronisation_s(model: IterationModel, num_gpus: int, several_servers: bool) -> float:
    """Time to synchronise gradients among ``num_gpus``."""
    beyond_two = max(num_gpus - 2.0, NO_TIME_S)
    if several_servers:
        return model.alpha_node_s + model.beta_node_s * beyond_two
    if num_gpus > 1:
        return model.alpha_local_s + model.beta_local_s * beyond_two
    return NO_TIME_S


@compiled
def overlapped_s(first_s: float, second_s: float, gamma: float) -> float:
    """Time of two things that overlap: (first^gamma + second^gamma)^(1 / gamma)."""
    longer, shorter = max(first_s, second_s), min(first_s, second_s)
    return longer * math.exp(math.log1p((shorter / longer) ** gamma) / gamma)


@compiled
def throughput(model: IterationModel, num_gpus: int, several_servers: bool, batch: Batch) -> float:
    """Examples per second."""
    alone_s = gradient_s(model, batch.per_gpu)
    shared_s = synchronisation_s(model, num_gpus, several_servers)
    iteration_s = batch.accumulation_steps * alone_s + overlapped_s(alone_s, shared_s, model.gamma)
    return num_gpus * batch.per_gpu * (batch.accumulation_steps + 1) / iteration_s


@compiled
def gain(noise: GradientNoise, scale: float) -> float:
    """Progress of an iteration whose batch is ``scale`` x the initial one, over that of the latter.

    1 for the initial batch; at most ``scale``.
    """
    rest = noise.variance / scale + noise.square
    return (noise.variance + noise.square) / rest if rest > 0 else 1.0


@compiled
def efficiency(noise: GradientNoise, scale: float) -> float:
    """Progress for each example, over that with the initial batch; at most 1 for a larger one."""
    return gain(noise, scale) / scale


@compiled
def split(examples: float, num_gpus: int, limits: BatchLimits) -> Batch:
    """A batch of about ``examples``, whole on each GPU, in as few steps as fit on one.

    One GPU alone takes two steps or more for what is above the initial batch, without which it
    would have one gradient, and no estimate of the variance.
    """
    on_gpu = examples / num_gpus
    steps = math.ceil(on_gpu / limits.gpu_most - _WHOLE)
    if num_gpus == 1 and examples > limits.initial + _WHOLE:
        steps = max(steps, 2)
    return Batch(math.ceil(on_gpu / steps - _WHOLE), steps - 1)


@compiled
def best_batch(
    model: IterationModel,
    noise: GradientNoise,
    limits: BatchLimits,
    num_gpus: int,
    several_servers: bool,
) -> tuple[float, Batch]:
    """(goodput, batch) with the most progress; goodput in initial examples per second.

    Looks at 50 sizes in geometric progression. Goodput is 0 where so many GPUs cannot share the
    largest batch.
    """
    least = max(limits.initial, limits.gpu_least * num_gpus)
    best, best_goodput = Batch(limits.gpu_least, 0), 0.0
    if least > limits.largest:
        return best_goodput, best
    ratio = math.log(limits.largest / least) / (_SAMPLES - 1)
    for sample in range(_SAMPLES):
        batch = split(least * math.exp(ratio * sample), num_gpus, limits)
        if not limits.gpu_least <= batch.per_gpu <= limits.gpu_most:
            continue
        scale = num_gpus * batch.per_gpu * (batch.accumulation_steps + 1) / limits.initial
        goodput = throughput(model, num_gpus, several_servers, batch) * efficiency(noise, scale)
        if goodput > best_goodput:
            best_goodput, best = goodput, batch
    return best_goodput, best
