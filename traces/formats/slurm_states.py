"""Slurm's words for the state of a job (``sacct``'s manual page, 25.11) in those of a trace."""

from __future__ import annotations

import pandas as pd

from traces.formats.csv_table import CsvTable

STATES = {
    "COMPLETED": "completed",
    "CANCELLED": "cancelled",
    "FAILED": "failed",
    "TIMEOUT": "timeout",
    "NODE_FAIL": "node-failure",
    "OUT_OF_MEMORY": "out-of-memory",
    "BOOT_FAIL": "node-failure",
    "DEADLINE": "timeout",
    "PREEMPTED": "cancelled",
    "REVOKED": "cancelled",
    "LAUNCH_FAILED": "failed",
    "RECONFIG_FAIL": "failed",
    "SPECIAL_EXIT": "failed",
    "RUNNING": "running",
    "PENDING": "running",
    "REQUEUED": "running",
    "REQUEUE_FED": "running",
    "REQUEUE_HOLD": "running",
    "RESIZING": "running",
    "SUSPENDED": "running",
    "STOPPED": "running",
    "SIGNALING": "running",
    "CONFIGURING": "running",
    "COMPLETING": "running",
    "STAGE_OUT": "running",
}
"""``running`` for all that is not the end of a job."""


def states(table: CsvTable, column: str) -> pd.Series:
    """The ``column`` in the words of a trace, without what follows as in ``CANCELLED by 1000``.

    Raises BadInputError with the line of another word.
    """
    words = table.words(column).str.split(" ").str[0]
    table.refuse(~words.isin(list(STATES)).to_numpy(dtype=bool), column, ", ".join(STATES))
    return words.map(STATES).astype("string")
