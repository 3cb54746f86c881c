"""The order of schedulers and their speed-ups; the reference against itself; sources of errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from harness.fidelity.bootstrap import RESAMPLES, SEED
from harness.fidelity.decision import Decision, decide
from harness.fidelity.inputs.results import Results, together
from harness.fidelity.noise import noise_floor
from harness.fidelity.pairs import pair
from harness.fidelity.sources import NETWORK, QUEUE, sources
from tests.unit.harness.fidelity.sides import pairs_of, side

JOBS = 50
RNG = np.random.default_rng(4)
BASE_S = RNG.lognormal(5, 0.5, JOBS)


def decision(reference: Results, prediction: Results) -> Decision:
    found = decide(pair(reference, prediction).arms)
    assert found is not None
    return found


def test_an_order_is_kept_or_reversed_or_not_to_be_told() -> None:
    noise = RNG.lognormal(0, 0.3, JOBS)
    reference = side({"slow": 2 * BASE_S, "fast": BASE_S, "as-fast": BASE_S * noise / noise.mean()})
    prediction = side({"slow": 2 * BASE_S, "fast": 3 * BASE_S, "as-fast": BASE_S})
    found = decision(reference, prediction)
    assert found.reference[-1] == "slow"
    assert found.prediction == ("as-fast", "slow", "fast")
    by_arms = {frozenset((each.faster, each.slower)): each for each in found.speedups}
    assert len(by_arms) == 3
    wrong = by_arms[frozenset(("fast", "slow"))]
    assert wrong.certainty == 1.0
    assert (wrong.is_kept, found.reversed) == (False, [wrong])
    assert wrong.reference.value == pytest.approx(2)
    assert wrong.prediction.value == pytest.approx(2 / 3)
    assert not by_arms[frozenset(("fast", "as-fast"))].is_certain


def test_speedups_as_scipy_has_them() -> None:
    reference_s = [BASE_S, BASE_S * RNG.lognormal(0.2, 0.2, JOBS)]
    prediction_s = [times_s * RNG.lognormal(0.1, 0.1, JOBS) for times_s in reference_s]
    found = decision(
        side(dict(zip("ab", reference_s, strict=True))),
        side(dict(zip("ab", prediction_s, strict=True))),
    )
    (speedup,) = found.speedups
    assert (speedup.faster, speedup.slower) == ("a", "b")

    def error(*data: np.ndarray, axis: int = -1) -> np.ndarray:
        a, b, c, d = (each.mean(axis=axis) for each in data)
        return (d / c) / (b / a)

    interval = stats.bootstrap(
        (*reference_s, *prediction_s),
        error,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    assert speedup.error.value == pytest.approx(error(*reference_s, *prediction_s))
    assert speedup.error.interval == pytest.approx(tuple(interval), rel=1e-9)


def test_one_arm_or_no_common_job_is_no_decision() -> None:
    assert decide([pairs_of([1, 2, 3], [1, 2, 3])]) is None
    other = side({"b": [1, 2, 3]})
    assert other.jobs is not None
    other.jobs["job"] = ["x", "y", "z"]
    both = together("both", [side({"a": [1, 2, 3]}), other])
    assert decide(pair(both, both).arms) is None


def test_repeats_of_the_reference_are_the_noise_floor() -> None:
    repeats = [side({"a": [100.0, 200.0]}, "1"), side({"a": [110.0, 220.0]}, "2"),
               side({"a": [100.0, 200.0]}, "3")]  # fmt: skip
    found = noise_floor(together("all", repeats), "a", "jct_s")
    assert found is not None
    assert found.repeats == 3
    assert found.means_off == pytest.approx((0.1, 0.0, 0.1))
    assert (found.largest, found.typical) == (pytest.approx(0.1), pytest.approx(0.1))
    assert found.mape == pytest.approx((0.1 + (1 - 1 / 1.1)) / 2 * 2 / 3)
    assert noise_floor(repeats[0], "a", "jct_s") is None


def test_seeds_with_other_jobs_are_no_repeats() -> None:
    repeats = [
        side({"a": [1.0, 2.0]}, "1", submit_s=[0.0, 100.0]),
        side({"a": [1.0, 2.0]}, "2", submit_s=[0.0, 900.0]),
    ]
    assert noise_floor(together("all", repeats), "a", "jct_s") is None


def test_errors_are_divided_as_far_as_tables_tell() -> None:
    (pairs,) = pair(
        side({"a": [100, 200]}, queue_s=[10.0, 30.0], run_s=[80.0, 160.0], starts=[2.0, 2.0],
             stall_s=[5.0, 7.0]),
        side({"a": [120, 220]}, queue_s=[20.0, 40.0], run_s=[90.0, 170.0], starts=[1.0, 2.0]),
    ).arms  # fmt: skip
    found = sources(pairs)
    assert found.parts[0].name == QUEUE
    assert [part.error_s for part in found.parts] == [10, 0, 10]
    assert sum(part.error_s for part in found.parts) == pytest.approx(20)
    assert found.starts == (2.0, 1.5)
    assert found.stall_s == (6.0, None)
    assert any(words.startswith("CPU and memory") for words in found.untold)


def test_what_tables_do_not_tell_is_said() -> None:
    found = sources(pairs_of([1.5, 2.25], [1.5, 2.25]))
    assert (found.parts, found.starts, found.grains) == ((), None, ())
    assert [words.partition(":")[0] for words in found.untold] == [
        "queueing and running", "restarts", "CPU and memory", "network",
    ]  # fmt: skip
    assert NETWORK not in [part.name for part in found.parts]


def test_multiples_of_a_step_are_rounding() -> None:
    found = sources(pairs_of([61, 122, 183.5, 240, 305], [60, 120, 180, 240, 300]))
    (grain,) = found.grains
    assert (grain.side, grain.grain_s) == ("prediction", 60.0)
    assert grain.share == pytest.approx(30 / 180)
