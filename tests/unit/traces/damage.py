"""Files as they come: cut short, or with bytes of them changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st

from traces.errors import BadInputError
from traces.job_trace import JobTrace

SCRAPS = (b",", b"\t", b"\n", b"\r", b'"', b"-", b"0", b"1e999", b"nan", b"None", b"\xef\xbb\xbf")


def damaged(data: bytes) -> st.SearchStrategy[bytes]:
    """``data`` after one to four edits, each of which takes out some bytes and puts in others."""
    scraps = st.sampled_from(SCRAPS) | st.binary(max_size=4)
    edit = st.tuples(st.integers(0, len(data)), st.integers(0, 40), scraps)
    return st.lists(edit, min_size=1, max_size=4).map(lambda edits: _edited(data, edits))


def check_read_or_refused(read: Callable[[Path], JobTrace], file: Path, data: bytes) -> None:
    """A ``file`` that holds ``data`` is read with counts that add up, or refused by its name."""
    file.write_bytes(data)
    try:
        trace = read(file)
    except BadInputError as error:
        refused = error.file
    else:
        assert trace.read == len(trace.jobs) + sum(trace.left_out.values())
        return
    assert refused == file


def _edited(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    for start, length, scrap in edits:
        data = data[:start] + scrap + data[start + length :]
    return data
