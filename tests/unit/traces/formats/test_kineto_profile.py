"""Kineto: the profile that a trace becomes, from made-up traces and from a real one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.unit.traces.communication import noted, real_files
from tests.unit.traces.formats.kineto_trace import Trace, import_kineto, overlapped
from traces.model_profile import read_profile, write_profile


def test_profile_says_where_it_comes_from(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    imported = trace.run(tmp_path)
    profile = imported.profile
    assert (profile.model, profile.num_gpus, profile.gpu_type) == ("trace", 4, "Test GPU")
    assert profile.provenance == "measured"
    assert "trace.json, rank 0 of 4, NCCL 2.17.1, 1 iteration" in profile.source
    write_profile(profile, tmp_path / "profile.json")
    assert read_profile(tmp_path / "profile.json") == profile


def test_without_a_header_the_largest_group_is_the_job(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.header = {}
    imported = trace.run(tmp_path)
    assert imported.profile.num_gpus == 4
    assert noted(imported, "world size")


def test_groups_smaller_than_the_job_are_noted(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, group=2)
    assert noted(trace.run(tmp_path), "the groups have 2 workers, the job 4")


def test_gzip_is_known_by_its_first_bytes(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    file = tmp_path / "packed.json"
    file.write_bytes(gzip.compress(json.dumps(trace.document()).encode()))
    plain = trace.run(tmp_path)
    packed = import_kineto(file, model="named")
    assert packed.profile.demand == plain.profile.demand
    assert packed.profile.model == "named"


@pytest.mark.data
def test_real_data_parallel_trace() -> None:
    imported = import_kineto(*real_files("kineto", "nccl_data.json.gz"))
    assert [one.name for one in imported.iterations] == [f"ProfilerStep#{n}" for n in (4, 5, 6)]
    assert [one.duration_s for one in imported.iterations] == pytest.approx(
        [0.2224, 0.2197, 0.2249], abs=1e-4
    )
    for iteration in imported.iterations:
        reduced = [one for one in iteration.collectives if one.name == "allreduce"]
        assert len(reduced) == 5
        assert sum(one.elements or 0 for one in reduced) == 25_557_032
        assert {one.dtype for one in reduced} == {"float32"}
    demand = imported.profile.demand
    assert demand.bytes_per_worker == 25_557_032 * 4  # two ranks: 2 (n - 1) / n is 1
    assert demand.compute_s == pytest.approx(0.2224, abs=1e-3)  # its gaps are the host's
    assert [one.ready_s for one in demand.transfers] == pytest.approx(
        [0.1070, 0.1153, 0.1215, 0.1496, 0.1901], abs=1e-3
    )
    assert [one.blocking for one in demand.transfers] == [False] * 4 + [True]
    assert imported.profile.num_gpus == 2
    assert noted(imported, "2 small transfers", "broadcast", "212,904 bytes")
