"""A loss that is not finite is noticed."""

from __future__ import annotations

import math

import pytest
import torch

from profiler.training.loss_watch import LossWatch


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_the_iteration_of_a_loss_that_is_not_finite_is_said(bad: float, dtype: torch.dtype) -> None:
    watch = LossWatch(torch.device("cpu"))
    losses = [1.0, 3e38, bad, 2.0]
    said = [watch.observe(torch.tensor(loss, dtype=dtype), n) for n, loss in enumerate(losses)]
    assert said == [None, None, 2, None]


def test_a_loss_of_several_numbers_is_finite_if_all_are() -> None:
    watch = LossWatch(torch.device("cpu"))
    assert watch.observe(torch.tensor([1.0, math.nan], requires_grad=True), 0) == 0
    assert watch.observe(torch.ones(1), 1) is None
