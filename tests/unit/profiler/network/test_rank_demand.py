"""From what ranks are seen to send, on links of one rate or two, back to the demand behind it."""

from __future__ import annotations

import pytest

from profiler.demand_fit.pattern import Estimate, FittedPhase, PatternFit
from profiler.network.rank_demand import (
    RankFit,
    SeenIteration,
    SeenTransfer,
    demand_of,
    iteration_of,
)
from traces.demand import Pattern
from traces.errors import BadInputError

MB = 1e6
RATE_BPS = 80e6  # 10 MB/s


def fit(start_s: float, period_s: float, *phases: tuple[float, float, float]) -> PatternFit:
    """phases: (start_s, length_s, bytes)."""
    return PatternFit(
        start_s=start_s,
        end_s=start_s + 20 * period_s,
        iterations=20,
        period_s=_exactly(period_s),
        phases=tuple(
            FittedPhase(
                _exactly(begin_s), _exactly(begin_s + length_s), _exactly(size),
                _exactly(size * 8 / length_s),
            )
            for begin_s, length_s, size in phases
        ),
        background_bps=0.0,
        unexplained=0.0,
        outliers=(),
    )  # fmt: skip


def _exactly(value: float) -> Estimate:
    return Estimate(value, value, value)


def test_an_all_reduce_of_four_ranks_is_one_ring_transfer() -> None:
    ranks = [
        RankFit(rank, fit(5.0 + 0.001 * rank, 0.3, (0.2, 0.1, MB)), ({(rank + 1) % 4: 1.0},))
        for rank in range(4)
    ]
    demand = demand_of(iteration_of(ranks, RATE_BPS, 5.0))
    (transfer,) = demand.transfers
    assert transfer.pattern is Pattern.RING
    assert transfer.bytes == pytest.approx(MB)
    assert demand.compute_s == pytest.approx(0.2, abs=0.004)


def test_stages_of_a_pipeline_keep_their_pairs_and_their_order() -> None:
    ranks = [
        RankFit(0, fit(5.0, 0.4, (0.1, 0.05, MB / 2)), ({1: 1.0},)),
        # Its own fit begins elsewhere on the circle: 0.25 s later, where it is idle longest.
        RankFit(1, fit(5.25, 0.4, (0.05, 0.1, MB)), ({0: 1.0},)),
    ]
    seen = iteration_of(ranks, RATE_BPS, 5.0)
    assert [transfer.pairs for transfer in seen.transfers] == [((0, 1),), ((1, 0),)]
    assert [transfer.start_s for transfer in seen.transfers] == pytest.approx([0.1, 0.3])


def test_a_ring_downwards_is_a_ring_and_steps_of_it_are_one_transfer() -> None:
    ranks = [
        RankFit(
            rank,
            fit(5.0, 0.5, (0.2, 0.08, MB / 2), (0.29, 0.08, MB / 2)),
            ({(rank - 1) % 4: 1.0},) * 2,
        )
        for rank in range(4)
    ]
    (transfer,) = demand_of(iteration_of(ranks, RATE_BPS, 5.0)).transfers
    assert transfer.pattern is Pattern.RING
    assert transfer.bytes == pytest.approx(MB)
    assert transfer.rate_limit_bps == pytest.approx(MB * 8 / 0.17)


def test_transfers_stand_where_the_jobs_iteration_has_them() -> None:
    # The fit begins in the middle of an iteration, which began 0.1 s before.
    ranks = [
        RankFit(0, fit(5.1, 0.4, (0.35, 0.04, MB / 4)), ({1: 1.0},)),
        RankFit(1, fit(5.1, 0.4), ()),
    ]
    (transfer,) = iteration_of(ranks, RATE_BPS, 5.0).transfers
    assert transfer.start_s == pytest.approx(0.05)


def test_bytes_of_a_phase_go_to_whom_its_packets_went() -> None:
    ranks = [
        RankFit(0, fit(0.0, 0.4, (0.1, 0.1, MB)), ({1: 0.25, 2: 0.75},)),
        RankFit(1, fit(0.0, 0.4), ()),
        RankFit(2, fit(0.0, 0.4), ()),
    ]
    sent = {each.pairs[0]: each.bytes for each in iteration_of(ranks, RATE_BPS, 0.0).transfers}
    assert sent == pytest.approx({(0, 1): MB / 4, (0, 2): MB * 3 / 4})


def seen_on(rate_bps: float, *, first_blocks: bool, last_waits: bool = True) -> SeenIteration:
    """Two transfers of 1 MB, with 0.1 s of compute before each."""
    length_s = MB * 8 / rate_bps
    second_s = 0.2 + length_s if first_blocks else 0.4
    period_s = second_s + length_s if last_waits else second_s + 0.5
    return SeenIteration(
        period_s,
        rate_bps,
        (
            SeenTransfer(0.1, length_s, MB, ((0, 1),)),
            SeenTransfer(second_s, length_s, MB, ((1, 0),)),
        ),
    )


@pytest.mark.parametrize("first_blocks", [True, False])
@pytest.mark.parametrize("last_waits", [True, False])
def test_a_slower_link_tells_what_waits(first_blocks: bool, last_waits: bool) -> None:
    fast, slow = (
        seen_on(rate, first_blocks=first_blocks, last_waits=last_waits) for rate in (80e6, 40e6)
    )
    demand = demand_of(fast, slow)
    assert [transfer.blocking for transfer in demand.transfers] == [first_blocks, last_waits]
    second_s = 0.2 if first_blocks else 0.4
    assert [each.ready_s for each in demand.transfers] == pytest.approx([0.1, second_s])
    assert demand.compute_s == pytest.approx(second_s if last_waits else second_s + 0.5)


def test_on_one_link_only_the_end_waits() -> None:
    demand = demand_of(seen_on(80e6, first_blocks=True))
    assert [transfer.blocking for transfer in demand.transfers] == [False, True]
    assert demand.compute_s == demand.transfers[-1].ready_s


def test_patterns_that_differ_between_the_rates_are_refused() -> None:
    fast, slow = seen_on(80e6, first_blocks=True), seen_on(40e6, first_blocks=True)
    fewer = SeenIteration(slow.period_s, slow.rate_bps, slow.transfers[:1])
    with pytest.raises(BadInputError, match="2 and 1 transfers"):
        demand_of(fast, fewer)
