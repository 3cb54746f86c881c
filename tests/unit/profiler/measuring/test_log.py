"""The last words of a training."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.measuring.log import last_words


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (b"", ""),
        (b"one\ntwo\n\n  \n", "two"),
        (b"x\n" * 10_000 + b"ValueError: \xff no\n", "ValueError: \ufffd no"),
    ],
)
def test_the_last_line_that_says_something(tmp_path: Path, written: bytes, words: str) -> None:
    file = tmp_path / "log"
    file.write_bytes(written)
    assert last_words(file) == words


def test_without_a_log_there_are_none(tmp_path: Path) -> None:
    assert last_words(tmp_path / "none") == ""
