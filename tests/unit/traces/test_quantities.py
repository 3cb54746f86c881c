"""Text with a unit becomes SI, and everything else is refused with what is allowed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces.quantities import (
    format_duration,
    format_rate,
    format_size,
    parse_duration_s,
    parse_rate_bps,
)

Parser = Callable[[object], float]


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (parse_rate_bps, "50 Gbit/s", 50e9),
        (parse_rate_bps, "50Gbit/s", 50e9),
        (parse_rate_bps, " 1.25 GB/s ", 10e9),
        (parse_rate_bps, "1e3 kbit/s", 1e6),
        (parse_duration_s, "141 ms", 0.141),
        (parse_duration_s, "5 µs", 5e-6),
        (parse_duration_s, "2 min", 120.0),
        (parse_duration_s, "0 s", 0.0),
    ],
)
def test_a_quantity_becomes_si(parse: Parser, text: str, expected: float) -> None:
    assert parse(text) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("parse", "given_", "problem"),
    [
        (parse_rate_bps, "50 Gbs", "'Gbs' is not a unit of this quantity"),
        (parse_rate_bps, "50 GB", "'GB' is not a unit of this quantity"),
        (parse_rate_bps, "50", "is not a number with a unit"),
        (parse_rate_bps, 50, "has no unit"),
        (parse_rate_bps, True, "has no unit"),
        (parse_rate_bps, None, "has no unit"),
        (parse_rate_bps, ["50 Gbit/s"], "has no unit"),
        (parse_rate_bps, "0 Gbit/s", "is out of range"),
        (parse_rate_bps, "-1 Gbit/s", "is out of range"),
        (parse_rate_bps, "1e999 bit/s", "is out of range"),
        (parse_duration_s, "-3 s", "is out of range"),
        (parse_duration_s, "3 parsecs", "'parsecs' is not a unit of this quantity"),
        (parse_duration_s, "", "is not a number with a unit"),
        (parse_duration_s, "3 s 4 s", "is not a number with a unit"),
        (parse_duration_s, "2**9 s", "is not a number with a unit"),
    ],
)
def test_anything_else_is_refused_with_an_example(
    parse: Parser, given_: object, problem: str
) -> None:
    with pytest.raises(ValueError, match=r"\|") as caught:
        parse(given_)
    said, _, allowed = str(caught.value).partition("|")
    assert problem in said
    assert "such as" in allowed


@given(st.floats(min_value=1.0, max_value=1e13, allow_nan=False))
def test_a_formatted_rate_reads_back_to_four_digits(rate_bps: float) -> None:
    assert parse_rate_bps(format_rate(rate_bps)) == pytest.approx(rate_bps, rel=6e-4)


@given(st.floats(min_value=1e-6, max_value=1e5, allow_nan=False))
def test_a_formatted_duration_reads_back_to_four_digits(duration_s: float) -> None:
    assert parse_duration_s(format_duration(duration_s)) == pytest.approx(duration_s, rel=6e-4)


def test_units_are_those_that_a_reader_expects() -> None:
    assert format_rate(5e10) == "50 Gbit/s"
    assert format_rate(12) == "12 bit/s"
    assert format_size(5.7466896e8) == "574.7 MB"
    assert format_size(999) == "999 B"
    assert format_duration(0.2301) == "230.1 ms"
    assert format_duration(0) == "0 s"
    assert format_duration(2e-5) == "20 µs"
    assert format_duration(61) == "61 s"


@given(st.text(max_size=20))
def test_no_text_breaks_the_parser(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert parse_rate_bps(text) > 0
