"""The error of a loader that cannot go on."""

from __future__ import annotations

from traces.errors import RoundelayError


class LoadingError(RoundelayError):
    """A loader worker was killed (or ran out of memory), or an item cannot be read or decoded.

    The source is of no more use. The cache is: a new source goes on with it.
    """
