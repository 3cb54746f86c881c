"""The applications that Pollux' authors measured: times of iterations, gradients and epochs.

(OSDI'21, section 5.3, "simulator construction".) What was not measured is interpolated as in their
simulator.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.scheduling.pollux.goodput import BatchLimits, GradientNoise
from traces.errors import BadInputError
from traces.formats.pollux_files import (
    read_placement_times,
    read_scalability_times,
    read_validation,
)

_VALIDATION = re.compile(r"validation-([1-9]\d{0,8})\.csv")
_POSITION = ["num_servers", "num_gpus", "per_gpu"]
_TIMES = ["iteration_s", "synchronisation_s"]
_MOST_SERVERS = 16


class Application:
    """What was measured of one application, from its folder.

    gpu_most: examples that fit on a GPU, where it is less than the most that were measured.
    """

    def __init__(self, folder: Path, gpu_most: int | None = None) -> None:
        """Raises BadInputError with file, line and column."""
        self.folder = folder
        self._placements = read_placement_times(folder / "placements.csv")
        self._by_placement = {
            tuple(int(digit) for digit in str(placement)): (
                rows["per_gpu"].to_numpy(dtype=np.float64),
                rows[_TIMES].to_numpy(),
            )
            for placement, rows in self._placements.sort_values("per_gpu", kind="stable").groupby(
                "placement"
            )
        }
        validations = self._validations()
        self._batches = np.array(sorted(validations))
        epochs = min(len(each) for each in validations.values())
        trainings = [validations[batch].iloc[:epochs] for batch in sorted(validations)]
        self._noise = np.stack([each[["square", "variance"]].to_numpy() for each in trainings])
        self._ends = np.min([each["progress"].to_numpy() for each in trainings], axis=0)
        self.limits = BatchLimits(
            initial=int(self._batches[0]),
            largest=int(self._batches[-1]),
            gpu_least=int(self._placements["per_gpu"].min()),
            gpu_most=gpu_most or int(self._placements["per_gpu"].max()),
        )
        self._known_times: dict[tuple[tuple[int, ...], int], tuple[float, float]] = {}

    @property
    def epochs(self) -> int:
        """How many a training takes."""
        return len(self._ends)

    def progress_after(self, epochs: int) -> float:
        """The progress that ends so many epochs, in iterations of the initial batch."""
        return float(self._ends[epochs - 1])

    def noise(self, batch: int, epoch: int) -> GradientNoise:
        """The gradients' in ``epoch``, from 0, at a batch within those of the trainings."""
        at = int(np.searchsorted(self._batches, batch))
        if at == len(self._batches) or batch < self._batches[0]:
            raise BadInputError(
                f"nothing was measured at a batch of {batch}",
                allowed=f"batches from {self._batches[0]} to {self._batches[-1]}",
                file=self.folder,
            )
        lower = max(at - 1, 0)
        square, variance = (
            float(np.interp(batch, self._batches[lower : at + 1], each[lower : at + 1]))
            for each in self._noise[:, epoch].T
        )
        return GradientNoise(square, variance)

    def times_s(self, placement: tuple[int, ...], per_gpu: int) -> tuple[float, float]:
        """(an iteration without accumulation, the synchronisation in it) on servers with so many
        GPUs each, in the order of the ring.

        Raises BadInputError outside what was measured.
        """
        turned = min(placement[at:] + placement[:at] for at in range(len(placement)))
        known = self._known_times.get((turned, per_gpu))
        if known is None:
            known = self._known_times[turned, per_gpu] = self._interpolated_s(turned, per_gpu)
        return known

    def _interpolated_s(self, placement: tuple[int, ...], per_gpu: int) -> tuple[float, float]:
        measured = self._by_placement.get(placement)
        if measured is not None and measured[0][0] <= per_gpu <= measured[0][-1]:
            at, times_s = measured
            iteration_s, synchronisation_s = (np.interp(per_gpu, at, each) for each in times_s.T)
            return float(iteration_s), float(synchronisation_s)
        if measured is None:
            servers = min(len(placement), _MOST_SERVERS)
            iteration_s, synchronisation_s = self._between([[servers, sum(placement), per_gpu]])[0]
            if np.isfinite(iteration_s):
                return float(iteration_s), float(synchronisation_s)
        raise BadInputError(
            f"nothing was measured near {per_gpu} examples on each GPU of the placement "
            f"{'+'.join(str(gpus) for gpus in placement)}",
            allowed="placements and batches within those that were measured",
            file=self.folder,
        )

    @cached_property
    def _between(self) -> Any:
        """Interpolates linearly between what was measured, over servers, GPUs and batch."""
        # Imported here: every command would wait for it otherwise.
        from scipy.interpolate import LinearNDInterpolator

        alike = self._placements.groupby(_POSITION, as_index=False)[_TIMES].mean()
        more = read_scalability_times(self.folder / "scalability.csv")
        points = pd.concat([alike, more], ignore_index=True)
        return LinearNDInterpolator(points[_POSITION].to_numpy(), points[_TIMES].to_numpy())

    def _validations(self) -> dict[int, pd.DataFrame]:
        """Trainings by their batch."""
        found: dict[int, pd.DataFrame] = {}
        for file in self.folder.iterdir():
            name = _VALIDATION.fullmatch(file.name)
            if name:
                found[int(name[1])] = read_validation(file)
        if not found:
            raise BadInputError(
                "there is no training", allowed="files validation-BATCH.csv", file=self.folder
            )
        return found
