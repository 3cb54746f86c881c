"""Kineto: the traces of several ranks of one job, and who waited for whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.traces.communication import noted
from tests.unit.traces.formats.kineto_trace import Trace, import_kineto
from traces.errors import BadInputError


def ranks_of(folder: Path, *traces: Trace) -> list[Path]:
    """Files of the ranks of one job."""
    files = []
    for rank, trace in enumerate(traces):
        trace.header["distributedInfo"] = {"rank": rank, "world_size": len(traces)}
        files.append(folder / f"rank{rank}.json")
        files[-1].write_text(json.dumps(trace.document()), encoding="utf-8")
    return files


def waiting(trace: Trace, ready: float, clock: float = 0.0, **more: Any) -> None:
    """A step of 100 ms: compute until ``ready``, an all-reduce to 80, the optimizer.

    clock: ms that this rank's clock is ahead.
    """
    trace.step(1, clock, 100)
    trace.compute(clock + 1, ready - 1, launch=clock + 1)
    trace.collective(clock + ready, 80 - ready, issued=clock + 2, **more)
    trace.compute(clock + 80, 10, launch=clock + 3)


@pytest.mark.parametrize("sequence", [{}, {"Seq": 17}], ids=["by place", "by sequence number"])
def test_waiting_for_a_slower_rank_is_no_time_of_the_network(
    tmp_path: Path, sequence: dict[str, int]
) -> None:
    fast, slow = Trace(), Trace()
    waiting(fast, 40, **sequence)
    waiting(slow, 60, clock=7.5, **sequence)
    files = ranks_of(tmp_path, fast, slow)
    for first, second in (files, files[::-1]):
        imported = import_kineto(first, second)
        demand = imported.profile.demand
        assert demand.compute_s == pytest.approx(0.080)
        assert demand.transfers[0].ready_s == pytest.approx(0.060)
        assert demand.transfers[0].blocking
        assert "beside those of 1 other rank" in imported.profile.source
    assert noted(import_kineto(*files), "waited for slower ranks for 20 ms of an iteration")
    alone = import_kineto(files[0])
    assert alone.profile.demand.compute_s == pytest.approx(0.060)
    assert noted(alone, "taken as waiting for the network")


def test_ranks_are_compared_by_their_sequence_numbers_before_places(tmp_path: Path) -> None:
    first, other = Trace(), Trace()
    waiting(first, 40, Seq=5)
    waiting(other, 60, Seq=6)
    imported = import_kineto(*ranks_of(tmp_path, first, other))
    assert imported.profile.demand.compute_s == pytest.approx(0.060)
    assert noted(imported, "in the trace of no other rank", "1 collective")


def test_groups_of_other_ranks_are_others(tmp_path: Path) -> None:
    first, other = Trace(), Trace()
    waiting(first, 40, **{"Process Group Name": "3"})
    waiting(other, 60, **{"Process Group Name": "4"})
    imported = import_kineto(*ranks_of(tmp_path, first, other))
    assert imported.profile.demand.compute_s == pytest.approx(0.060)


def test_sends_are_not_compared_and_other_programs_are_told(tmp_path: Path) -> None:
    first, other = Trace(), Trace()
    waiting(first, 40, name="send")
    waiting(other, 60, name="recv")
    imported = import_kineto(*ranks_of(tmp_path, first, other))
    assert imported.profile.demand.compute_s == pytest.approx(0.060)
    assert noted(imported, "1 of 2 ranks communicate otherwise")
    assert not noted(imported, "in the trace of no other rank")


def test_missing_ranks_are_told(tmp_path: Path) -> None:
    traces = [Trace() for _ in range(3)]
    for trace in traces:
        waiting(trace, 40)
    imported = import_kineto(*ranks_of(tmp_path, *traces)[:2])
    assert noted(imported, "traces of 2 of 3 ranks")


def test_files_that_are_no_ranks_of_one_job(tmp_path: Path) -> None:
    traces = [Trace(), Trace()]
    for trace in traces:
        waiting(trace, 40)
    files = ranks_of(tmp_path, *traces)
    with pytest.raises(BadInputError, match="is of rank 0, as is") as caught:
        import_kineto(files[0], files[0])
    assert caught.value.key == "distributedInfo"
    traces[1].header["distributedInfo"]["world_size"] = 8
    files[1].write_text(json.dumps(traces[1].document()), encoding="utf-8")
    with pytest.raises(BadInputError, match="a job of 8 ranks") as caught:
        import_kineto(*files)
    assert caught.value.file == files[1]
