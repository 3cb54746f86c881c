"""What a training process printed last: it says why it ended."""

from __future__ import annotations

import os
from pathlib import Path

_TAIL_BYTES = 4096


def last_words(log: Path) -> str:
    """The last line of ``log`` that is not empty; empty where there is none."""
    try:
        with log.open("rb") as stream:
            stream.seek(0, os.SEEK_END)
            stream.seek(max(stream.tell() - _TAIL_BYTES, 0))
            tail = stream.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(tail.splitlines()) if line.strip()), "")
