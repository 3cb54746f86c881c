"""A model that is known by name: what it may be asked for, and the profile that comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from traces.demand import Demand
from traces.errors import BadInputError
from traces.model_profile import ModelProfile
from traces.models.gpu import GPU_TYPE

MAX_WORKERS = 64
_LISTED = 4


@dataclass(frozen=True)
class Reconstruction:
    """A demand and, in words, the arithmetic that it comes from."""

    demand: Demand
    source: str


@dataclass(frozen=True)
class KnownModel:
    """Gives the profile for a number of workers, one GPU each, and a batch.

    reconstruct: from (number of workers, samples per GPU and iteration).
    default_batch: samples per GPU and iteration, where nobody says otherwise.
    recalled_batches: the least and the largest batch of CASSINI's jobs as they are remembered.
    Nothing that could be read confirms them, nor says whether a GPU's or a whole job's are meant;
    so they only bound what is accepted from above.
    workers: how many it can be spread over.
    """

    name: str
    reconstruct: Callable[[int, int], Reconstruction]
    default_batch: int
    recalled_batches: tuple[int, int]
    workers: range = range(1, MAX_WORKERS + 1)

    @property
    def batches(self) -> range:
        """The batches that are accepted, in samples per GPU and iteration."""
        return range(1, self.recalled_batches[1] + 1)

    def profile(self, num_workers: int, batch_per_gpu: int | None = None) -> ModelProfile:
        """The profile with ``num_workers`` workers.

        Raises BadInputError, with the key ``num_workers`` or ``batch_per_gpu``.
        """
        batch = self.default_batch if batch_per_gpu is None else batch_per_gpu
        if num_workers not in self.workers:
            problem = f"{self.name} does not spread over {num_workers} workers"
            raise BadInputError(problem, allowed=_spoken(self.workers), key="num_workers")
        if batch not in self.batches:
            problem = f"a batch of {batch} a GPU is not one of {self.name}"
            raise BadInputError(problem, allowed=_spoken(self.batches), key="batch_per_gpu")
        reconstruction = self.reconstruct(num_workers, batch)
        least, largest = self.recalled_batches
        return ModelProfile(
            model=self.name,
            num_gpus=num_workers,
            batch_size=batch * num_workers,
            gpu_type=GPU_TYPE,
            demand=reconstruction.demand,
            provenance="reconstructed",
            source=f"{reconstruction.source}; unverified: batches of {least} to {largest}, as "
            "CASSINI's are remembered",
        )


def _spoken(numbers: range) -> str:
    """1 to 64; or 4, 8, 12, 16, ... 64."""
    if numbers.step == 1:
        return f"{numbers[0]} to {numbers[-1]}"
    return f"{', '.join(str(number) for number in numbers[:_LISTED])}, ... {numbers[-1]}"
