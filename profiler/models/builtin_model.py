"""A built-in model: what it trains on, and how one iteration of it is built."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from profiler.loading.sample_format import SampleFormat
from profiler.loading.stored_items import StoredItems
from profiler.models.formats.writable_format import WritableFormat
from profiler.models.made_items import make_items
from profiler.models.training_options import Kind, TrainingOptions
from traces.errors import BadInputError, MissingCapabilityError

if TYPE_CHECKING:
    import torch
    from torch import nn
    from torch.optim import Optimizer

    from profiler.models.training_step import TrainingStep

_SEED = 0


class Architecture(Protocol):
    """What a module of profiler.models.architectures has."""

    def make_network(self, name: str, tiny: bool, sample_format: WritableFormat) -> nn.Module:
        """With random weights; from the tensors of a batch to the mean loss."""

    def make_optimizer(self, parameters: list[nn.Parameter]) -> Optimizer:
        """Fused."""


@dataclass(frozen=True)
class BuiltinModel:
    """A model by name, in its published size or a tiny one.

    batch_size: samples per iteration.
    source: where the architecture is from, in words.
    architecture: its module in profiler.models.architectures.
    sample_format: what it trains on.
    """

    name: str
    kind: Kind
    batch_size: int
    source: str
    tiny: bool
    architecture: str
    sample_format: WritableFormat

    def format(self) -> SampleFormat:
        """What the bytes of an item mean to it."""
        return self.sample_format

    def make_items(self, directory: Path, count: int, seed: int) -> StoredItems:
        """``count`` items, made rather than recorded, in a directory of their own in ``directory``.

        They follow from ``seed`` alone. Files that an earlier call made are kept.
        """
        size = "tiny" if self.tiny else "full"
        return make_items(self.sample_format, directory / f"{self.name}-{size}-{seed}", count, seed)

    def check_labels(self, items: StoredItems) -> None:
        """Raises BadInputError where ``items`` have a label that the model has no output for."""
        classes = self.sample_format.classes
        if len(items) and not 0 <= items.labels.min() <= items.labels.max() < classes:
            raise BadInputError(
                f"the items' labels are {items.labels.min()} to {items.labels.max()}",
                allowed=f"0 to {classes - 1}, which {self.name} tells apart",
                key="data",
            )

    def make_network(self, device: torch.device) -> nn.Module:
        """The network alone, on ``device``: "meta" gives its shapes and takes no memory."""
        import torch

        torch.manual_seed(_SEED)
        with torch.device(device):
            return self._architecture().make_network(self.name, self.tiny, self.sample_format)

    def build(self, device: torch.device, options: TrainingOptions) -> TrainingStep:
        """The model on ``device``, ready to train, with the same random weights each time.

        Sets the process's number of threads per operation on the CPU.

        Raises
        ------
        BadInputError: an option does not apply to this model or this device.
        MissingCapabilityError: the device does not compute the model in bf16; torchvision or
            transformers is not installed.
        """
        import torch

        from profiler.models.bf16 import refuse_missing_bf16
        from profiler.models.training_step import TrainingStep

        options.refuse_unfit(self.kind, device.type)
        torch.set_num_threads(options.threads)
        network = self.make_network(device)
        if options.precision == "bf16":
            refuse_missing_bf16(network, device)
        return TrainingStep(network, self._architecture().make_optimizer, device, options)

    def _architecture(self) -> Architecture:
        # transformers and torchvision take seconds to import, and one model needs one of them.
        try:
            module: Architecture = import_module(
                f"profiler.models.architectures.{self.architecture}"
            )
        except ModuleNotFoundError as error:
            raise MissingCapabilityError(
                f"{self.name} needs {error.name}, which is not installed",
                remedy="pip install 'roundelay[real]'",
            ) from None
        return module
