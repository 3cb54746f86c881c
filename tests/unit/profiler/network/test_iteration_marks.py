"""When a script says that iterations are done."""

from __future__ import annotations

import contextlib
import socket
import time

import pytest

from emulator.iterations import socket_address
from profiler.network.iteration_marks import IterationMarks, Mark, lengths_s


def test_reports_have_the_time_at_which_they_came() -> None:
    with contextlib.closing(IterationMarks()) as marks:
        script = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        script.connect(socket_address(marks.name))
        sent_s = []
        for text in (b"1", b"3", b"nonsense", b"0", b"-1", b"2"):
            before_s = time.monotonic()
            script.send(text)
            sent_s.append((before_s, time.monotonic()))
            time.sleep(0.01)
        script.close()
        marks.take()
        assert [mark.done for mark in marks.marks] == [1, 4, 6]
        assert marks.done == 6
        assert marks.refused == 3
        for mark, (before_s, after_s) in zip(
            marks.marks, (sent_s[0], sent_s[1], sent_s[5]), strict=True
        ):
            assert before_s - 0.001 <= mark.t_s <= after_s + 0.001


def test_nothing_was_said() -> None:
    with contextlib.closing(IterationMarks()) as marks:
        marks.take()
        assert (marks.done, marks.refused, list(marks.marks)) == (0, 0, [])


def test_several_iterations_in_one_report_are_alike() -> None:
    lengths = lengths_s([Mark(1.0, 4), Mark(1.5, 5), Mark(2.7, 8)])
    assert lengths == pytest.approx([0.5, 0.4, 0.4, 0.4])
