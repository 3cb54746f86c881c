"""The words of a step marker, and what tc makes of them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netshaper.ecn.red import RedCounts, decode_red, red_words


def words_of(threshold_bytes: int) -> dict[str, str]:
    words = red_words(10**9, threshold_bytes, 3000, 2 * threshold_bytes)
    assert words[0] == "red"
    assert words[-2:] == ("ecn", "nodrop")
    return dict(zip(words[1:-2:2], words[2:-2:2], strict=True))


def tc_weight_log(least_bytes: int, burst: int, packet_bytes: int) -> int | None:
    """tc_red_eval_ewma of iproute2: log2 of the average's weight, or None for an error."""
    wanted = burst + 1 - least_bytes / packet_bytes
    if wanted < 1:
        return None
    for log in range(1, 32):
        weight = 2.0**-log
        if wanted <= (1 - (1 - weight) ** burst) / weight:
            return log
    return None


def test_the_words_are_exactly_these() -> None:
    assert " ".join(red_words(10**9, 80_000, 12_500, 10**6)) == (
        "red limit 1000000 min 80000 max 80001 avpkt 1539 burst 52 probability 1 "
        "bandwidth 1000000000bit ecn nodrop"
    )


@given(st.integers(3028, 2**30))
def test_the_average_follows_the_queue_as_closely_as_tc_allows(threshold_bytes: int) -> None:
    words = words_of(threshold_bytes)
    found = tc_weight_log(int(words["min"]), int(words["burst"]), int(words["avpkt"]))
    assert found == 1
    assert int(words["max"]) == int(words["min"]) + 1 == threshold_bytes + 1


def test_the_rate_stays_where_tc_can_count_a_packets_time() -> None:
    assert "bandwidth 10000000000bit" in " ".join(red_words(10**11, 80_000, 0, 10**6))


@given(st.integers(3028, 10**6), st.integers(1, 10**6))
def test_a_threshold_below_the_bucket_is_refused_with_what_helps(
    threshold_bytes: int, more: int
) -> None:
    with pytest.raises(ValueError, match="smaller than the token bucket") as raised:
        red_words(10**9, threshold_bytes, threshold_bytes + more, 10**7)
    problem, allowed = str(raised.value).split("|")
    assert "without any congestion" in problem
    assert str(threshold_bytes + more) in allowed
    red_words(10**9, threshold_bytes, threshold_bytes, 10**7)


@pytest.mark.parametrize("threshold_bytes", [0, 3027, 10**6])
def test_a_threshold_must_hold_two_frames_and_fit_the_queue(threshold_bytes: int) -> None:
    with pytest.raises(ValueError, match=r"threshold of \d+ bytes.*\|at least two frames"):
        red_words(10**9, threshold_bytes, 0, 10**6)


def test_counts_are_those_of_the_kernels_struct() -> None:
    assert decode_red(struct.pack("=4I", 1, 2, 3, 4)) == RedCounts(1, 2, 3, 4)
