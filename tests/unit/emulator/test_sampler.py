"""Sampling in bounded memory: what is dropped lies between cumulative counts that stay."""

from __future__ import annotations

from emulator.sampler import Round, thinned


def _rounds(count: int) -> list[Round]:
    return [[[float(number), "namespace", "eth0", {}]] for number in range(count)]


def test_few_rounds_stay_as_they_are() -> None:
    rounds = _rounds(10)
    assert thinned(rounds, 0.02, most_rounds=10) == (rounds, 0.02)


def test_too_many_rounds_become_half_at_twice_the_interval() -> None:
    rounds, interval_s = thinned(_rounds(11), 0.02, most_rounds=10)
    assert [sample[0] for (sample,) in rounds] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert interval_s == 0.04


def test_a_long_run_never_holds_more_than_it_may() -> None:
    rounds: list[Round] = []
    interval_s, now_s = 0.02, 0.0
    while now_s < 1000.0:
        rounds.append([[now_s, "namespace", "eth0", {}]])
        rounds, interval_s = thinned(rounds, interval_s, most_rounds=100)
        assert len(rounds) <= 100
        now_s += interval_s
    assert rounds[0][0][0] == 0.0
    assert interval_s == 0.02 * 2**9


def test_a_network_of_very_many_ports_still_has_a_first_and_a_last_round() -> None:
    rounds, _ = thinned(_rounds(2), 0.02, most_rounds=0)
    assert len(rounds) == 2
