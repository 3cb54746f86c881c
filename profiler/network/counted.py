"""What one emulated server sent, as its port counted it and as its packets add up to. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from emulator.evidence import Sample
from traces.load_series import LoadSeries


def series_of_port(samples: Sequence[Sample], minors: Sequence[int], source: str) -> LoadSeries:
    """The bytes of these classes between two readings of a port's counters, on the monotonic
    clock. Raises ValueError where there are fewer than two readings."""
    edges_s = np.array([sample.t_s for sample in samples])
    sent = np.array(
        [sum(sample.counters[minor][0] for minor in minors) for sample in samples],
        dtype=np.float64,
    )
    return LoadSeries(edges_s, np.diff(sent), None, source)
