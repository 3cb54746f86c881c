"""Texts that name instants, as seconds, and the instant that a trace counts from, as text."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_EPOCH = datetime(1970, 1, 1)
# Of signs that Arrow's expressions know too, which are far faster.
_HAS_OFFSET = r":[0-9][0-9](?:[.,][0-9]+)? ?(?:[Zz]|[+-][0-9][0-9](?::?[0-9][0-9])?)$"


def iso_seconds(texts: pd.Series) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(seconds, whether the text has an offset) of texts in ISO 8601; shape (texts,) each.

    The seconds count from 1970: in UTC where there is an offset, else on the local clock; NaN where
    a text is null or no instant.
    """
    times = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
    has_offset = texts.str.contains(_HAS_OFFSET, regex=True).fillna(False)
    return since_epoch_s(times), has_offset.to_numpy(dtype=bool)


def since_epoch_s(times: pd.Series) -> NDArray[np.float64]:
    """Seconds from 1970 of ``times`` (datetimes of any unit), NaN where there is none."""
    microseconds = times.astype("datetime64[us, UTC]" if times.dt.tz else "datetime64[us]")
    seconds = microseconds.astype("int64").to_numpy() / 1e6
    return np.where(times.isna().to_numpy(), np.nan, seconds)


def instant_text(since_epoch_s: float, *, is_utc: bool) -> str | None:
    """In ISO 8601, with the offset of UTC where it is UTC; None where it is no instant."""
    if not math.isfinite(since_epoch_s):
        return None
    try:
        instant = _EPOCH + timedelta(seconds=since_epoch_s)
    except OverflowError:
        return None
    return (instant.replace(tzinfo=UTC) if is_utc else instant).isoformat()
