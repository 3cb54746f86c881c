"""What profiles say of the speed with each number of GPUs, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from harness.scheduling.placed.policy import Choice
from harness.scheduling.placed.profiled import Profiled

ANY = Profiled((Choice(1, 1.0, 1.0), Choice(2, 1.0, 2.0), Choice(3, 1.0, 1.5)))
EVEN = Profiled((Choice(2, 0.5, 1.0), Choice(4, 0.5, 2.0)))


def test_goodput_is_batches_a_second() -> None:
    table = ANY.goodputs(most_gpus=3, most_on_server=2)
    assert table[0, :3].tolist() == [0.0, 1.0, 2.0]
    assert np.isnan(table[0, 3])
    assert table[1].tolist() == [0.0, 1.0, 1.0, 2.0]


def test_gpus_that_a_job_has_no_use_for_make_it_no_faster() -> None:
    assert EVEN.goodputs(6, 6)[1, 2:].tolist() == [2.0, 2.0, 2.0, 2.0, 2.0]
    assert EVEN.goodputs(6, 6)[0, 2:].tolist() == [4.0, 4.0, 8.0, 8.0, 8.0]


def test_below_the_least_number_it_is_a_hair_that_grows() -> None:
    below = Profiled((Choice(12, 1.0, 1.0),)).goodputs(12, 1)[1]
    assert below[0] == 0.0
    assert (np.diff(below) > 0).all()
    assert below[11] < 1e-4 * below[12]
    assert (np.diff(below, 2)[:10] > 0).all(), "one of two gets all before either gets half"


@pytest.mark.parametrize(
    ("known", "num_gpus", "expected"), [(ANY, 3, 2.0), (ANY, 2, 1.0), (EVEN, 1, 2.0), (ANY, 9, 2.0)]
)
def test_a_fair_share_is_on_several_servers_and_enough_to_run(
    known: Profiled, num_gpus: int, expected: float
) -> None:
    assert known.fair_goodput(num_gpus) == expected
