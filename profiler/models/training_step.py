"""One full iteration of training."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import torch
from torch import nn
from torch.optim import Optimizer

from profiler.models.training_options import TrainingOptions

_CAST_TO = {"bf16": torch.bfloat16, "fp16": torch.float16}


class TrainingStep:
    """Forward, backward and the optimizer's update of ``network``, on ``device``.

    network: from the tensors of a batch to the mean loss. Its parameters are on ``device``.
    make_optimizer: from its parameters; a fused one, which skips an update after an overflow in
        fp16 without a look at the device.
    """

    def __init__(
        self,
        network: nn.Module,
        make_optimizer: Callable[[list[nn.Parameter]], Optimizer],
        device: torch.device,
        options: TrainingOptions,
    ) -> None:
        if options.channels_last:
            network = network.to(memory_format=torch.channels_last)
        self.network = network.train()
        self._loss_of: Callable[..., torch.Tensor] = network
        self._errors: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
        if options.compile:
            from profiler.models.compile_errors import compile_errors  # seconds to import

            self._loss_of, self._errors = torch.compile(network), compile_errors
        self._optimizer = make_optimizer(list(network.parameters()))
        self._scaler = torch.amp.GradScaler(device.type, enabled=options.precision == "fp16")
        self._device_type = device.type
        self._cast_to = _CAST_TO.get(options.precision)
        self._channels_last = options.channels_last

    def __call__(self, batch: Sequence[torch.Tensor]) -> torch.Tensor:
        """Trains with ``batch``, which is on the device, and returns the loss, a scalar there.

        It does not wait for the device. Of the networks, GPT-2, GPT-3 and XLM of transformers and
        the CTC loss of deepspeech read a few numbers back in each forward pass, whoever uses them.

        MissingCapabilityError where it is to be compiled, and torch cannot do that here.
        """
        with self._errors():
            return self._train(batch)

    def _train(self, batch: Sequence[torch.Tensor]) -> torch.Tensor:
        first, *others = batch
        if self._channels_last:
            first = first.to(memory_format=torch.channels_last)
        self._optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self._device_type, self._cast_to, enabled=self._cast_to is not None):
            loss = self._loss_of(first, *others)
        self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        self._scaler.step(self._optimizer)
        self._scaler.update()
        return loss.detach()
