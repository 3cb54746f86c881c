"""An iteration model from observed iterations (Pollux, OSDI'21, section 4.1)."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from harness.job_table import Flags, Floats
from harness.scheduling.pollux.goodput import NO_TIME_S, IterationModel
from traces.compiled import compiled

_START = (0.1, 0.01, 0.1, 0.01, 0.1, 0.01, 1.001)
_LEAST = (NO_TIME_S,) * 6 + (1.0,)
_MOST = (np.inf,) * 6 + (10.0,)
_PREFER_SMALL_GAMMA = 1e-3
_ROUNDED_OFF = 1e-3  # of a logarithm: a tenth of a per cent
_PREFER_NO_RETROGRESSION = 1e-2
_BETWEEN_SERVERS = 1.1  # how much longer than within one, as long as nobody has seen it


class Observation(NamedTuple):
    """An iteration on ``num_gpus`` of ``num_servers``, ``per_gpu`` examples each.

    gradient_s: without synchronisation. iteration_s: with it, and without accumulation.
    """

    num_servers: int
    num_gpus: int
    per_gpu: int
    gradient_s: float
    iteration_s: float


def fit(observations: Sequence[Observation]) -> IterationModel:
    """The model with the least error of the logarithms of both times, in the root mean square.

    A parameter about which the observations say nothing stays at its optimistic value, so that
    the job is given a chance to try: no time for synchronisation that was never seen, no
    retrogression before three GPUs were, and half of the gradients' time as constant where only one
    batch was. Raises ValueError without an observation.
    """
    # Imported here: every command would wait for it otherwise.
    from scipy.optimize import minimize

    if not observations:
        raise ValueError("a model needs an observation")
    columns = np.array(observations, dtype=np.float64).T.copy()  # _loss is compiled for one order
    servers, gpus, per_gpu, gradient_s, _ = columns
    start, least, most = np.array(_START), np.array(_LEAST), np.array(_MOST)
    pinned = _unseen(servers, gpus)
    start[pinned] = most[pinned] = least[pinned]
    if len(np.unique(per_gpu)) == 1:
        start[0] = least[0] = most[0] = gradient_s.mean() / 2
    bounds = list(zip(least.tolist(), most.tolist(), strict=True))
    with _linear_algebra().limit(limits=1):
        found = minimize(_loss, start, args=(columns,), jac=True, method="L-BFGS-B", bounds=bounds)
    model = IterationModel(*(float(value) for value in found.x))
    if (servers > 1).any():
        return model
    return model._replace(
        alpha_node_s=max(model.alpha_node_s, _BETWEEN_SERVERS * model.alpha_local_s),
        beta_node_s=max(model.beta_node_s, _BETWEEN_SERVERS * model.beta_local_s),
    )


@functools.cache
def _linear_algebra() -> ThreadpoolController:
    """The threads of what solves the search's few equations.

    They would wait for one another a hundred times as long as one of them takes alone.
    """
    return ThreadpoolController()


def _unseen(servers: Floats, gpus: Floats) -> Flags:
    """(parameters,) of synchronisation about which nothing is known."""
    several = bool((servers > 1).any())
    local = bool(((servers == 1) & (gpus > 1)).any())
    beyond_two = bool((gpus > 2).any())
    of_node = not several, not (several and beyond_two)
    of_local = not local, not (local and beyond_two)
    return np.array((False, False, *of_node, *of_local, False))


@compiled
def _loss(parameters: Floats, observations: Floats) -> tuple[float, Floats]:
    """(loss, its gradient (parameters,)). observations: (fields of an Observation, observations).

    Small gammas are preferred, which are easier to fit, and so is little retrogression, which is
    more optimistic.
    """
    alpha_grad, beta_grad, alpha_node, beta_node, alpha_local, beta_local, gamma = parameters
    servers, gpus, per_gpu, gradient_s, iteration_s = observations
    several = servers > 1
    local = ~several & (gpus > 1)
    beyond_two = np.maximum(gpus - 2.0, NO_TIME_S)

    alone = alpha_grad + beta_grad * per_gpu
    shared = (
        several * (alpha_node + beta_node * beyond_two)
        + local * (alpha_local + beta_local * beyond_two)
        + NO_TIME_S * (gpus == 1)
    )
    log_alone, log_shared = np.log(alone), np.log(shared)
    # both = (alone^gamma + shared^gamma)^(1 / gamma), of which part is the share of alone^gamma.
    ratio = np.exp(gamma * (log_shared - log_alone))
    part = 1 / (1 + ratio)
    log_both = log_alone + np.log1p(ratio) / gamma

    error, slope = _root_mean_square(log_alone - np.log(gradient_s))
    error_both, slope_both = _root_mean_square(log_both - np.log(iteration_s))
    retrogression = beta_node / alpha_node, beta_local / alpha_local
    loss = error + error_both + _PREFER_SMALL_GAMMA * (gamma - 1) ** 2
    loss += _PREFER_NO_RETROGRESSION * (retrogression[0] ** 2 + retrogression[1] ** 2)

    by_alone = (slope + slope_both * part) / alone
    by_shared = slope_both * (1 - part) / shared
    by_gamma = slope_both * (part * log_alone + (1 - part) * log_shared - log_both) / gamma
    gradient = np.empty(7)
    gradient[0] = by_alone.sum()
    gradient[1] = (by_alone * per_gpu).sum()
    for first, there, alpha, beta in (
        (2, several, alpha_node, beta_node),
        (4, local, alpha_local, beta_local),
    ):
        penalty = 2 * _PREFER_NO_RETROGRESSION * beta / alpha**2
        gradient[first] = (by_shared * there).sum() - penalty * beta / alpha
        gradient[first + 1] = (by_shared * there * beyond_two).sum() + penalty
    gradient[6] = by_gamma.sum() + 2 * _PREFER_SMALL_GAMMA * (gamma - 1)
    return loss, gradient


@compiled
def _root_mean_square(errors: Floats) -> tuple[float, Floats]:
    """(the root of the mean square, its slope by each error), rounded off near zero.

    There the root has a kink, at which the search would stop as soon as one of the two errors is
    gone, however large the other still is.
    """
    root = math.sqrt((errors**2).mean() + _ROUNDED_OFF**2)
    return root - _ROUNDED_OFF, errors / (len(errors) * root)
