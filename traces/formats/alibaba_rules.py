"""What is done with jobs of Alibaba's traces that a cluster of whole GPUs cannot run as they are.

Alibaba shares GPUs between jobs, so a job may ask for parts of one. Its own simulators keep the
parts; a trace here has whole GPUs.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from traces.trace_format import Cleaning, CleaningRule

DROP_UNFINISHED = CleaningRule(
    "drop-unfinished", "its submission, start or end is not given: it was waiting or running"
)
ROUND_UP_GPUS = CleaningRule(
    "round-up-gpus", "it asks for parts of GPUs, and gets the next whole number of them"
)

_DIGITS = 9  # a sum of parts is exact to more than these


def with_whole_gpus(jobs: pd.DataFrame, cleaning: Cleaning) -> pd.DataFrame:
    """``jobs`` with ``num_gpus`` rounded up, where that rule applies."""
    gpus = jobs["num_gpus"].to_numpy().round(_DIGITS)
    parts = gpus != np.floor(gpus)
    rounded = jobs.assign(num_gpus=gpus)
    return cleaning.change(rounded, parts, "num_gpus", np.ceil(gpus[parts]), ROUND_UP_GPUS)
