"""Texts that name instants, as seconds, and the instant that a trace counts from, as text."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CLOCK_TIME = "a time such as '2017-10-07 01:11:39'"
"""What :func:`clock_seconds` reads, for a person."""

_EPOCH = datetime(1970, 1, 1)
_FIRST_S, _LAST_S = ((end - _EPOCH).total_seconds() for end in (datetime.min, datetime.max))
# Of signs that Arrow's expressions know too, which are far faster.
_HAS_OFFSET = r":[0-9][0-9](?:[.,][0-9]+)? ?(?:[Zz]|[+-][0-9][0-9](?::?[0-9][0-9])?)$"


def clock_seconds(texts: pd.Series) -> Floats:
    """Seconds from 1970 on a clock whose zone is not known, of texts such as CLOCK_TIME.

    Shape (texts,); NaN where a text is null or no such time.
    """
    return since_epoch_s(pd.to_datetime(texts, format="%Y-%m-%d %H:%M:%S", errors="coerce"))


def iso_seconds(texts: pd.Series) -> tuple[Floats, NDArray[np.bool_]]:
    """(seconds, whether the text has an offset) of texts in ISO 8601; shape (texts,) each.

    The seconds count from 1970: in UTC where there is an offset, else on the local clock; NaN where
    a text is null or no instant of the years 1 to 9999.
    """
    times = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    has_offset = texts.str.contains(_HAS_OFFSET, regex=True).fillna(False)
    return since_epoch_s(times), has_offset.to_numpy(dtype=bool)


def since_epoch_s(times: pd.Series) -> Floats:
    """Seconds from 1970 of ``times`` (datetimes of any unit), NaN where there is none; as dated."""
    microseconds = times.astype("datetime64[us, UTC]" if times.dt.tz else "datetime64[us]")
    seconds = microseconds.astype("int64").to_numpy() / 1e6
    return dated(np.where(times.isna().to_numpy(), np.nan, seconds))


def dated(since_epoch_s: Floats) -> Floats:
    """The same, NaN where it is no instant of the years 1 to 9999, which instant_text can write."""
    inside = (since_epoch_s >= _FIRST_S) & (since_epoch_s <= _LAST_S)
    return np.where(inside, since_epoch_s, np.nan)


def instant_text(since_epoch_s: float, *, is_utc: bool) -> str | None:
    """In ISO 8601, with the offset of UTC where it is UTC; None where it is no instant."""
    if not math.isfinite(since_epoch_s):
        return None
    try:
        instant = _EPOCH + timedelta(seconds=since_epoch_s)
    except OverflowError:
        return None
    return (instant.replace(tzinfo=UTC) if is_utc else instant).isoformat()
