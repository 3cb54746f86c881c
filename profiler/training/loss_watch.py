"""Whether a loss is finite, found out without waiting for the device."""

from __future__ import annotations

import math

import torch

from profiler.loading.event_clock import CudaEvent, Event, HostEvent


class LossWatch:
    """Looks at one loss at a time: the next one is taken when the last one has arrived.

    So on a GPU that is far behind the host some losses are passed over. One that is not finite
    spoils the weights, and with them nearly always all losses that follow.
    """

    def __init__(self, device: torch.device) -> None:
        on_gpu = device.type == "cuda"
        self._arrived: Event = CudaEvent(device) if on_gpu else HostEvent()
        self._value = torch.empty((), dtype=torch.float64, pin_memory=on_gpu)
        self._on_its_way: int | None = None

    def observe(self, loss: torch.Tensor, iteration: int) -> int | None:
        """The iteration of a loss that has arrived and is not finite; None where there is none."""
        bad = self._look()
        if self._on_its_way is None:
            self._value.copy_(loss.detach().sum(), non_blocking=True)
            self._arrived.record()
            self._on_its_way = iteration
        return self._look() if bad is None else bad

    def _look(self) -> int | None:
        iteration = self._on_its_way
        if iteration is None or not self._arrived.query():
            return None
        self._on_its_way = None
        return None if math.isfinite(self._value.item()) else iteration
