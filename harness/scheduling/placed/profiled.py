"""How fast a job trains with each number of GPUs, where its profiles say it. Pure."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from harness.job_table import Floats
from harness.scheduling.placed.policy import Choice

_HAIR = 1e-4


@dataclass(frozen=True)
class Profiled:
    """What the iteration times of ``choices``, ascending, say; see pollux.speedup.Known.

    The unit is the batch of one GPU a second. GPUs beyond a number of workers that the job may have
    are of no use to it. With fewer than the least it would train not at all; it counts for a hair
    of what it does with the least, as the search changes the GPUs of one server after the other and
    would find no way there otherwise. The hair grows with the square of the GPUs, so that of two
    such jobs one gets all before either gets half.
    """

    choices: tuple[Choice, ...]

    def goodputs(self, most_gpus: int, most_on_server: int) -> Floats:
        """(2, GPUs + 1): on one server [0] and on several [1]; not-a-number on one server with more
        than ``most_on_server``."""
        return _goodputs(self.choices, most_gpus, most_on_server)

    def fair_goodput(self, num_gpus: int) -> float:
        """On several servers; with the least number of workers where the share is smaller."""
        usable = max(num_gpus, self.choices[0].workers)
        return float(self.goodputs(usable, 0)[1, usable])


@functools.lru_cache(maxsize=2**10)
def _goodputs(choices: tuple[Choice, ...], most_gpus: int, most_on_server: int) -> Floats:
    gpus = np.arange(most_gpus + 1)
    least = choices[0]
    hair = _HAIR * least.workers / least.apart_iteration_s * (gpus / least.workers) ** 2
    together, apart = hair, hair.copy()
    for choice in choices:
        together[choice.workers :] = choice.workers / choice.together_iteration_s
        apart[choice.workers :] = choice.workers / choice.apart_iteration_s
    together[most_on_server + 1 :] = np.nan
    table = np.stack((together, apart))
    table.setflags(write=False)
    return table
