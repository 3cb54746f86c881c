"""The order of jobs: one policy a file, found by name."""

from __future__ import annotations

from collections.abc import Callable

from harness.scheduling.policies.drf import DRF
from harness.scheduling.policies.fifo import FIFO
from harness.scheduling.policies.ftf import FTF
from harness.scheduling.policies.las import LAS
from harness.scheduling.policies.max_min_fairness import themis_max_min, themis_muri
from harness.scheduling.policies.policy import Policy
from harness.scheduling.policies.published import FTF_PUBLISHED, SRTF_PUBLISHED
from harness.scheduling.policies.srsf import SRSF
from harness.scheduling.policies.srtf import SRTF
from harness.scheduling.policies.tetris import TETRIS
from harness.scheduling.policies.tiresias import tiresias

POLICIES: dict[str, Callable[[], Policy]] = {
    "fifo": lambda: FIFO,
    "srtf": lambda: SRTF,
    "srsf": lambda: SRSF,
    "las": lambda: LAS,
    "ftf": lambda: FTF,
    "themis-max-min": themis_max_min,
    "tiresias": tiresias,
    "drf": lambda: DRF,
    "tetris": lambda: TETRIS,
    "srtf-published": lambda: SRTF_PUBLISHED,
    "ftf-published": lambda: FTF_PUBLISHED,
    "themis-muri": themis_muri,
}
"""By name; each call makes a policy for one run, as some keep a state."""
