"""How large the caches are that a sensitivity has on its memory axis. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from traces.errors import BadInputError

_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ROOM = 0.6
"""Of the memory that is available: the training itself needs some, too."""


def cache_sizes(
    dataset_bytes: int, shares: Sequence[float] | None, available_bytes: int
) -> tuple[int, ...]:
    """Ascending, for caches that hold ``shares`` of the dataset; None for quarters of what fits.

    Raises
    ------
    BadInputError: the largest does not fit ``available_bytes``, or two are the same.
    """
    if shares is None:
        return quarters(min(dataset_bytes, int(_ROOM * available_bytes)))
    if shares[-1] * dataset_bytes > available_bytes:
        raise BadInputError(
            f"{shares[-1]:.0%} of the dataset are {shares[-1] * dataset_bytes / 1e9:.3g} GB",
            allowed=f"up to {available_bytes / dataset_bytes:.0%}, as there are "
            f"{available_bytes / 1e9:.3g} GB of memory",
            key="--memory",
        )
    return _sizes(dataset_bytes, shares)


def quarters(largest_bytes: int) -> tuple[int, ...]:
    """Ascending, up to one of ``largest_bytes``. BadInputError where two are the same."""
    return _sizes(largest_bytes, _QUARTERS)


def _sizes(whole_bytes: int, shares: Sequence[float]) -> tuple[int, ...]:
    sizes = tuple(round(share * whole_bytes) for share in shares)
    for less, more in pairwise(sizes):
        if more <= less:
            raise BadInputError(
                f"of {whole_bytes} bytes, two shares are the same size",
                allowed="fewer points, or a larger dataset",
                key="--memory",
            )
    return sizes
