"""Sweeps on a real Ray cluster of two nodes, which this machine plays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from harness.experiments.sweep.ray_cluster import ray_cluster
from harness.experiments.sweep.work import Outcome, Point, never
from tests.sweep.command import files_of, words_of
from traces.errors import BadInputError

cluster_utils = pytest.importorskip("ray.cluster_utils")

_STORE_BYTES = 80 * 2**20
_LOOPBACK = "127.0.0.2"  # ray.init() takes 127.0.0.1 for this machine's outer address


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of two nodes with a CPU each, on the loopback."""
    node = {
        "num_cpus": 1,
        "node_ip_address": _LOOPBACK,
        "object_store_memory": _STORE_BYTES,
    }
    # A path of its own, and short, for sockets lie below it.
    with tempfile.TemporaryDirectory(prefix="ray-") as place, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", place)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        head = {**node, "include_dashboard": False}
        cluster = cluster_utils.Cluster(initialize_head=True, head_node_args=head)
        try:
            cluster.add_node(**node)
            cluster.wait_for_nodes()
            yield cluster.address
        finally:
            cluster.shutdown()


def points(count: int, where: Path) -> list[Point]:
    return [Point(f"{n:03}", {"n": n}, {"n": "number"}, n, where, {}, False) for n in range(count)]


def node() -> str:
    import ray

    found: str = ray.get_runtime_context().get_node_id()
    return found


def with_another(point: Point) -> Outcome:
    """Its node and the time it took; the first two are done once both have begun."""
    began_s = time.time()
    (point.file / point.id).touch()
    while len(list(point.file.iterdir())) < 2:
        time.sleep(0.01)
    time.sleep(0.05)
    took = [node(), began_s, time.time()]
    return Outcome(point, table=json.dumps(took).encode())


def dies_of_the_third(point: Point) -> Outcome:
    if point.seed == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(point, table=b"")


def test_the_verb_gives_what_the_cores_here_give(address: str, tmp_path: Path) -> None:
    for place in ("local", "ray"):
        (tmp_path / place).mkdir()
    words = words_of(tmp_path / "ray", points=4)
    here = subprocess.run(
        words_of(tmp_path / "local", points=4), capture_output=True, text=True, check=False
    )
    assert here.returncode == 0, here.stderr
    done = subprocess.run(
        [*words, "--ray", address], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    before = files_of(tmp_path / "ray")
    assert set(before) == set(files_of(tmp_path / "local"))
    tables = [
        pd.read_parquet(tmp_path / place / "out" / "points")
        .sort_values(["workload.generate.load", "arm"], ignore_index=True)
        .drop(columns=["wall_s", "summary"])
        for place in ("local", "ray")
    ]
    pd.testing.assert_frame_equal(*tables)
    # All points are finished, so that the second call runs none, on whatever machine.
    again = subprocess.run(
        [*words, "--json"], capture_output=True, text=True, timeout=120, check=False
    )
    assert json.loads(again.stdout)["points"]["finished_before"] == 4
    assert files_of(tmp_path / "ray") == before


@pytest.mark.parametrize("one_per_node", [False, True])
def test_both_nodes_work_and_each_at_one_point_at_a_time(
    address: str, tmp_path: Path, one_per_node: bool
) -> None:
    with ray_cluster(address) as cluster:
        outcomes = list(
            cluster.run(points(6, tmp_path), with_another, never, one_per_node=one_per_node)
        )
    assert sorted(outcome.point.seed for outcome in outcomes) == list(range(6))
    spans: dict[str, list[tuple[float, float]]] = {}
    for outcome in outcomes:
        assert outcome.table is not None, outcome.failure
        place, began_s, ended_s = json.loads(outcome.table)
        spans.setdefault(place, []).append((began_s, ended_s))
    assert len(spans) == 2
    for of_node in spans.values():
        of_node.sort()
        ends = [ended_s for _, ended_s in of_node[:-1]]
        begins = [began_s for began_s, _ in of_node[1:]]
        assert all(begin >= end for begin, end in zip(begins, ends, strict=True))


def test_a_process_that_dies_fails_its_point_which_is_not_tried_again(
    address: str, tmp_path: Path
) -> None:
    with ray_cluster(address) as cluster:
        outcomes = list(
            cluster.run(points(5, tmp_path), dies_of_the_third, never, one_per_node=False)
        )
    assert len(outcomes) == 5
    (failed,) = (outcome for outcome in outcomes if outcome.failure)
    assert failed.point.seed == 2
    assert failed.failure is not None
    assert "WorkerCrashedError" in failed.failure.reason


def test_after_a_stop_no_point_begins(address: str, tmp_path: Path) -> None:
    done: list[Outcome] = []
    with ray_cluster(address) as cluster:
        for outcome in cluster.run(
            points(20, tmp_path), with_another, lambda: bool(done), one_per_node=False
        ):
            done.append(outcome)
    assert 1 <= len(done) <= 4


def test_an_address_without_a_cluster_is_refused() -> None:
    with (
        pytest.raises(BadInputError, match="no Ray cluster answers"),
        ray_cluster("nowhere"),
    ):
        pass
