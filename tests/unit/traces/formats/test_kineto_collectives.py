"""Kineto: which collectives a trace has, how much they move, and what is left out of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.traces.communication import noted, sizes
from tests.unit.traces.formats.kineto_trace import Trace, overlapped
from traces.demand import Pattern
from traces.formats.collectives import operation_of, wire_factor


def test_small_transfers_are_left_out_and_counted(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.collective(5, 0.01, issued=4, elements=2, name="broadcast", dtype="Long")
    imported = trace.run(tmp_path)
    assert sizes(imported) == [6000, 18000]
    assert len(imported.iterations[0].collectives) == 3
    assert noted(imported, "1 small transfer", "broadcast", "16 bytes")


def test_material_broadcasts_stay(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.collective(5, 1, issued=4, elements=1000, name="broadcast")
    assert sizes(trace.run(tmp_path)) == [4000, 6000, 18000]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("allreduce", 1.5),
        ("allreduce_coalesced", 1.5),
        ("_allgather_base", 0.75),
        ("allgather_into_tensor_coalesced", 0.75),
        ("reduce_scatter", 0.75),
        ("_reduce_scatter_base", 0.75),
        ("all_to_allv", 0.75),
        ("_broadcast_oop", 1.0),
        ("reduce", 1.0),
        ("send", 1.0),
    ],
)
def test_wire_bytes_per_worker(trace: Trace, tmp_path: Path, name: str, expected: float) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, name=name, dtype="BFloat16")
    imported = trace.run(tmp_path)
    assert sizes(imported) == [1000 * 2 * expected]
    [transfer] = imported.profile.demand.transfers
    is_all_to_all = name.startswith("all_to_all")
    assert transfer.pattern is (Pattern.ALL_TO_ALL if is_all_to_all else Pattern.RING)


def test_two_workers_and_unknown_names() -> None:
    assert wire_factor("allreduce", 2) == 1.0
    assert operation_of("allreduce_sparse") is None
    assert operation_of("nccl:all_reduce") == "allreduce"


def test_receives_are_another_ranks_transfers(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, name="recv")
    trace.collective(40, 10, issued=39, name="send")
    imported = trace.run(tmp_path)
    assert [one.name for one in imported.profile.demand.transfers] == ["send"]
    assert noted(imported, "1 receive", "another rank")


def test_what_moves_nothing_or_is_not_known_is_counted(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.collective(2, 1, issued=2, name="barrier")
    trace.collective(3, 1, issued=3, group=1)
    trace.collective(4, 1, issued=4, name="gossip")
    trace.collective(5, 1, issued=5, dtype="Quaternion")
    trace.collective(6, 1, issued=6, elements=0)
    trace.collective(150, 1, issued=150)
    imported = trace.run(tmp_path)
    assert sizes(imported) == [6000, 18000]
    for reason in ("'barrier'", "one worker", "'gossip'", "'Quaternion'", "no elements", "outside"):
        assert noted(imported, "left out 1 collective:", reason), reason


def test_kernels_alone_carry_the_sizes(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, record=False)
    assert sizes(trace.run(tmp_path)) == [6000]


def test_records_alone_give_the_time_of_issue(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(20, 10, issued=19, kernel=False)
    imported = trace.run(tmp_path)
    [transfer] = imported.profile.demand.transfers
    assert transfer.ready_s == pytest.approx(0.019)
    assert noted(imported, "no NCCL kernel")
    assert noted(imported, "no GPU kernels")


@pytest.mark.parametrize("named", [False, True])
def test_coalesced_collectives_share_the_kernel_that_names_none(
    trace: Trace, tmp_path: Path, named: bool
) -> None:
    trace.step(1, 0, 100)
    trace.compute(1, 9, launch=1)
    trace.collective(10, 5, issued=2, elements=500)
    trace.compute(15, 15, launch=3)
    for issued, elements in ((4.0, 1000), (4.1, 3000)):
        trace.collective(0, 0, issued=issued, elements=elements, kernel=False)
    if named:
        trace.collective(30, 20, issued=4.2, name="endCoalescing", elements=0)
    else:
        trace.coalesced(30, 20, issued=4.2)
    trace.collective(50, 5, issued=5, elements=700)
    trace.compute(55, 10, launch=6)
    imported = trace.run(tmp_path)
    collectives = imported.iterations[0].collectives
    assert [one.elements for one in collectives] == [500, 1000, 3000, 700]
    assert [one.start_s for one in collectives] == pytest.approx([0.010, 0.030, 0.030, 0.050])
    assert noted(imported, "2 collectives had no NCCL kernel of their own", "coalesced")
    assert not noted(imported, "left out")
    assert not noted(imported, "when the host issued them")


def test_a_kernel_that_nothing_was_issued_for_is_counted(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    trace.coalesced(85, 5, issued=60)
    assert noted(trace.run(tmp_path), "left out 1 collective:", "does not say its name")


def test_a_group_without_a_size_is_that_of_its_ranks_or_the_job(
    trace: Trace, tmp_path: Path
) -> None:
    trace.step(1, 0, 100)
    unsized: dict[str, Any] = {"Group size": None}
    trace.collective(20, 10, issued=19, **unsized, **{"Process Group Ranks": "[0, 2]"})
    trace.collective(40, 10, issued=39, **unsized, **{"Process Group Ranks": "[0, 1, ...]"})
    imported = trace.run(tmp_path)
    assert [one.group_size for one in imported.iterations[0].collectives] == [2, 4]
    assert noted(imported, "the size of its group is not said", "1 collective")
    trace.header = {}
    imported = trace.run(tmp_path)
    assert [one.group_size for one in imported.iterations[0].collectives] == [2]
    assert noted(imported, "left out 1 collective:", "how many workers the group")
