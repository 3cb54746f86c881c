"""What jobs wish for, and how fast their wish and their fair share make them, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.scheduling.demands import (
    Demands,
    JobKind,
    Speeds,
    build_demands,
    insensitive_demands,
)
from traces.sensitivity import Sensitivities, Sensitivity, builtin_sensitivities
from traces.server_pool import ServerGroup, ServerPool

GB = 1e9
MB = 1e6
SYNERGY = builtin_sensitivities("synergy")
LEAST_GB = 62.5 / 3

# Published: the ideal demand of a GPU, (CPUs, GB), and the speed-up that it gives.
WISHES = {
    "alexnet": (12, 125, 2.94),
    "shufflenet": (12, 125, 2.89),
    "res18": (9, 62.5, 2.4),
    "mobilenet": (6, 62.5, 1.55),
    "res50": (4, 62.5, 1.15),
    "m5": (6, 187.5, 2.5),
    "deepspeech": (3, 62.5, 1),
    "gnmt": (1, LEAST_GB, 1),
    "transformer": (1, LEAST_GB, 1),
    "lstm": (1, LEAST_GB, 1),
}


def synergy_servers(ratio: float = 3) -> ServerPool:
    """Servers of 8 GPUs and 500 GB, with ``ratio`` CPUs for each GPU."""
    return ServerPool((ServerGroup(16, 8, 8 * ratio, 500 * GB),))


def demands_of(
    model: str, num_gpus: int = 1, ratio: float = 3, speeds: Speeds = "matrix"
) -> Demands:
    return build_demands([JobKind(model, num_gpus)], SYNERGY, synergy_servers(ratio), speeds)


def wish_of(demands: Demands) -> tuple[float, float, float]:
    """(CPUs, GB, speed-up over the fair share) of the first kind on the first type."""
    cpus, memory_bytes, storage = demands.wish[0, 0]
    assert storage == 0
    speedup = demands.fair_iteration_s[0, 0] / demands.wish_iteration_s[0, 0]
    return cpus, memory_bytes / GB, speedup


def test_there_is_a_published_wish_for_every_model() -> None:
    assert set(WISHES) == set(SYNERGY.models)


@pytest.mark.parametrize("model", WISHES)
def test_a_job_of_one_gpu_wishes_for_its_published_ideal(model: str) -> None:
    demands = demands_of(model)
    assert wish_of(demands) == pytest.approx(WISHES[model])
    assert demands.fair[0, 0].tolist() == [3, 62.5 * GB, 0]
    assert demands.fair_iteration_s[0, 0] == SYNERGY.of(model, "v100").iteration_s
    cpus, gigabytes, _ = WISHES[model]
    assert demands.above_fair[0, 0] == (cpus > 3 or gigabytes > 62.5)


@pytest.mark.parametrize(
    ("model", "num_gpus", "expected"),
    [
        ("alexnet", 2, (12, 125, 2.94)),
        # A third of a server is 8 CPUs: between 1.75 with 6 and 2 with 9.
        ("alexnet", 3, (8, 62.5, 1.75 + 0.25 * 2 / 3)),
        ("alexnet", 4, (6, 62.5, 1.75)),
        # A fifth is 4.8 CPUs: between 1.25 with 4 and 1.53 with 5.
        ("alexnet", 5, (4.8, 62.5, 1.25 + 0.28 * 0.8)),
        ("alexnet", 8, (3, 62.5, 1)),
        ("alexnet", 12, (3, 62.5, 1)),
        ("m5", 2, (6, 187.5, 2.5)),
        ("m5", 4, (6, 125, 2)),
        ("m5", 8, (3, 62.5, 1)),
        ("res50", 6, (4, 62.5, 1.15)),
        ("gnmt", 8, (1, LEAST_GB, 1)),
        ("gnmt", 24, (1, LEAST_GB, 1)),
    ],
)
def test_a_wish_is_at_most_what_a_server_has(
    model: str, num_gpus: int, expected: tuple[float, float, float]
) -> None:
    assert wish_of(demands_of(model, num_gpus)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("alexnet", (0.6 / 1.25, 0.6 / 1.53, 0.6 / 1.75)),
        ("res18", (0.64 / 1.3, 0.64 / 1.53, 0.64 / 1.75)),
        ("res50", (0.78 / 1.15,) * 3),
        ("m5", (0.6 / 1.2, 0.6 / 1.4, 0.6 / 1.5)),
        ("deepspeech", (0.757,) * 3),
        ("gnmt", (0.12,) * 3),
    ],
)
def test_more_cpus_for_each_gpu_make_the_fair_share_faster_and_the_wish_no_slower(
    model: str, expected: tuple[float, ...]
) -> None:
    for ratio, fair_s in zip((4, 5, 6), expected, strict=True):
        demands = demands_of(model, ratio=ratio)
        assert demands.fair_iteration_s[0, 0] == pytest.approx(fair_s)
        assert demands.wish_iteration_s == pytest.approx(demands_of(model).wish_iteration_s)


@pytest.mark.parametrize(
    ("model", "ratio", "num_gpus", "expected", "fair_s"),
    [
        ("alexnet", 3, 1, (12, 125, 2.94), 0.6),
        ("alexnet", 4, 1, (12, 125, 2.352), 0.48),
        ("alexnet", 5, 1, (12, 125, 1.92), 0.392),
        ("alexnet", 6, 1, (24, 125, 2.18), 0.34),
        ("gnmt", 3, 1, (1, 20, 1), 0.12),
        ("m5", 6, 1, (6, 187.5, 1), 0.3),
        # A quarter of a server is 6 CPUs: a third of the way from 3 to 12.
        ("alexnet", 3, 4, (6, 125, 1 + 1.94 / 3), 0.6),
        ("alexnet", 3, 8, (3, 62.5, 1), 0.6),
        ("alexnet", 3, 16, (3, 62.5, 1), 0.6),
        # Memory that a server lacks is not held against the speed-up.
        ("m5", 3, 4, (6, 125, 2.5), 0.6),
    ],
)
def test_two_point_speeds_are_the_published_simulators(
    model: str, ratio: float, num_gpus: int, expected: tuple[float, float, float], fair_s: float
) -> None:
    demands = demands_of(model, num_gpus, ratio, "two-point")
    assert wish_of(demands) == pytest.approx(expected)
    assert demands.fair_iteration_s[0, 0] == fair_s


def test_two_point_speeds_are_known_for_published_ratios_only() -> None:
    with pytest.raises(KeyError, match="2 CPUs per GPU"):
        demands_of("alexnet", ratio=2, speeds="two-point")


def test_a_model_without_any_profile_is_an_error() -> None:
    with pytest.raises(KeyError, match="unheard-of"):
        demands_of("unheard-of")
    elsewhere = ServerPool((ServerGroup(1, 8, 24, 500 * GB, gpu_type="a100"),))
    with pytest.raises(KeyError, match="alexnet"):
        build_demands([JobKind("alexnet", 1)], SYNERGY, elsewhere)


def test_each_type_of_gpu_has_its_own_share_and_speed() -> None:
    """The second type has 8 CPUs and 100 GB for a GPU; the third has no profile."""
    groups = (
        ServerGroup(1, 8, 24, 500 * GB),
        ServerGroup(1, 4, 32, 400 * GB, gpu_type="a100"),
        ServerGroup(1, 4, 12, 200 * GB, gpu_type="h100"),
    )
    entries = (SYNERGY.of("alexnet", "v100"), toy("a100", model="alexnet"))
    demands = build_demands([JobKind("alexnet", 4)], Sensitivities(entries), ServerPool(groups))
    assert demands.fair[0].tolist() == [[3, 62.5 * GB, 0], [8, 100 * GB, 0], [3, 50 * GB, 0]]
    assert demands.wish[0].tolist() == [[6, 62.5 * GB, 0], [6, 10 * GB, 0], [0, 0, 0]]
    assert demands.fair_iteration_s[0].tolist() == [0.6, 0.5, np.inf]
    assert demands.wish_iteration_s[0].tolist() == [0.6 / 1.75, 0.5, np.inf]
    assert demands.above_fair[0].tolist() == [True, False, False]


def toy(gpu_type: str = "v100", **changes: Any) -> Sensitivity:
    """1 s an iteration with 3 CPUs, half with 1, twice as fast with 6; memory changes nothing.

    An iteration reads 100 MB of a dataset of 100 GB.
    """
    values: dict[str, Any] = {
        "model": "toy",
        "kind": "image",
        "gpu_type": gpu_type,
        "batch_size": 100,
        "iteration_s": 1.0,
        "reference_cpus": 3,
        "reference_memory_bytes": 10 * GB,
        "cpus": [1, 3, 6],
        "memory_bytes": [10 * GB, 50 * GB],
        "throughput": [[0.5, 0.5], [1, 1], [2, 2]],
        "provenance": "measured",
        "source": "a test",
        "dataset_bytes": 100 * GB,
        "sample_bytes": 1 * MB,
    }
    return Sensitivity(**(values | changes))


def storage_demands(
    num_gpus: int, storage_mb_per_s: float, memory_gb: float = 50, **changes: Any
) -> Demands:
    """On servers of 4 GPUs; storage and memory are those of a GPU's fair share."""
    group = ServerGroup(2, 4, 12, 4 * memory_gb * GB, 4 * storage_mb_per_s * MB)
    sensitivities = Sensitivities((toy(**changes),))
    return build_demands([JobKind("toy", num_gpus)], sensitivities, ServerPool((group,)))


def test_memory_saves_reads_where_storage_is_given_out() -> None:
    """All 100 GB cached cost half a server's memory, and no storage.

    With 50 GB, half of 100 MB would be read twice a second, with 10 GB, nine tenths of it.
    The fair share reads half of 100 MB in each iteration, at 40 MB/s: 1.25 s.
    """
    demands = storage_demands(1, storage_mb_per_s=40)
    assert demands.wish[0, 0] == pytest.approx([6, 100 * GB, 0])
    assert demands.wish_iteration_s[0, 0] == pytest.approx(0.5)
    assert demands.fair_iteration_s[0, 0] == pytest.approx(1.25)
    assert demands.above_fair[0, 0]


def test_storage_is_wished_for_where_it_is_cheaper_than_memory() -> None:
    """Of 1000 GB, 99 % are read with 10 GB cached: 198 MB/s of a server's 400."""
    demands = storage_demands(1, storage_mb_per_s=100, dataset_bytes=1000 * GB)
    assert demands.wish[0, 0] == pytest.approx([6, 10 * GB, 198 * MB])
    assert demands.wish_iteration_s[0, 0] == pytest.approx(0.5)
    assert demands.fair_iteration_s[0, 0] == pytest.approx(1.0)


def test_a_wish_is_no_faster_than_the_servers_storage() -> None:
    """With its 200 GB a GPU misses 80 % of 1000 GB: 80 MB in an iteration, at 120 MB/s."""
    demands = storage_demands(1, storage_mb_per_s=30, dataset_bytes=1000 * GB)
    assert demands.wish_iteration_s[0, 0] == pytest.approx(80 / 120)
    assert demands.wish[0, 0, 1:] == pytest.approx([200 * GB, 120 * MB])


def test_memory_beyond_the_last_profiled_point_still_saves_reads() -> None:
    """The job of a whole server cannot have more than its fair share, nor be faster with less.

    Each GPU has 500 GB, which make half of 4000 GB for all four: 50 MB at 20 MB/s.
    """
    demands = storage_demands(4, 20, memory_gb=500, dataset_bytes=4000 * GB)
    assert demands.fair_iteration_s[0, 0] == pytest.approx(2.5)
    assert demands.wish_iteration_s[0, 0] == pytest.approx(2.5)
    assert demands.wish[0, 0, 1:] == pytest.approx([500 * GB, 20 * MB])


def test_memory_on_another_server_saves_no_reads() -> None:
    """Eight GPUs on two servers are twice four GPUs on one."""
    four, eight = (storage_demands(gpus, 20, dataset_bytes=400 * GB) for gpus in (4, 8))
    assert four.fair_iteration_s[0, 0] == pytest.approx(50 / 20)
    assert eight.fair_iteration_s == pytest.approx(four.fair_iteration_s)
    assert eight.wish == pytest.approx(four.wish)


def test_a_job_whose_dataset_is_unknown_wishes_for_no_storage() -> None:
    demands = storage_demands(1, 1, dataset_bytes=None, sample_bytes=None)
    assert demands.wish[0, 0].tolist() == [6, 10 * GB, 0]
    assert demands.wish_iteration_s[0, 0] == 0.5


def test_jobs_without_a_profile_wish_for_their_fair_share_and_are_as_fast_everywhere() -> None:
    groups = (ServerGroup(1, 8, 24, 80 * GB), ServerGroup(1, 2, 8, 2 * GB, gpu_type="a100"))
    demands = insensitive_demands([1, 4], [0.5, 2.0], ServerPool(groups))
    np.testing.assert_array_equal(demands.wish, demands.fair)
    assert demands.fair[1].tolist() == [[3, 10 * GB, 0], [4, 1 * GB, 0]]
    assert demands.wish_iteration_s.tolist() == [[0.5, 0.5], [2, 2]]
    assert demands.fair_iteration_s.tolist() == [[0.5, 0.5], [2, 2]]
    assert not demands.above_fair.any()
