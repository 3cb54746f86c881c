"""AICB: logs and workloads, one small file per behaviour, and the published log."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.traces.communication import (
    check_read_or_refused,
    counts,
    noted,
    real_files,
    sizes,
)
from tests.unit.traces.damage import damaged
from traces.communication_trace import CommunicationImport, ImportOptions
from traces.errors import BadInputError
from traces.formats.aicb import import_aicb

HEADER = (
    "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,_elapsed_time,"
    "algbw,busbw,count"
)


def row(kind: str, group: str, size: object, message: object, ms: object, bandwidth: object) -> str:
    return (
        f"CommType.{kind},CommGroup.{group},{size},{message},forward,None,None,,"
        f"{ms},{bandwidth},{bandwidth},1"
    )


def end(ms: object, bandwidth: object = 0.0) -> str:
    return f"CommType.epoch_end,None,None,0,,None,None,,{ms},{bandwidth},{bandwidth},1"


ITERATION = [
    row("computation", "None", "None", "((8, 1, 4), (4, 2))", 10.0, 0),
    row("all_reduce", "tp_group", 2, 1000, 1.0, 1.5),
    row("computation", "None", "None", "((8, 1, 4), (4, 2))", 20.0, 0),
    row("reduce_scatter", "dp_group", 4, 8000, 2.0, 1.5),
]
LOG = [HEADER, *ITERATION, end(33.0), *ITERATION, end(33.0)]


def read(folder: Path, lines: list[str], **options: object) -> CommunicationImport:
    file = folder / "log.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return import_aicb(file, ImportOptions(**options))  # type: ignore[arg-type]


def refusal(folder: Path, lines: list[str], **options: object) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read(folder, lines, **options)
    return caught.value


def test_a_log_gives_ring_bytes_and_ready_times_from_measured_computing(tmp_path: Path) -> None:
    imported = read(tmp_path, LOG)
    demand = imported.profile.demand
    assert demand.compute_s == pytest.approx(0.030)
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.010, 0.030])
    assert sizes(imported) == [1000, 8000 * 3 / 4]
    assert all(one.blocking for one in demand.transfers)
    assert imported.profile.num_gpus == 8
    assert imported.profile.provenance == "measured"
    assert imported.profile.measured_iteration_s == pytest.approx(0.033)
    assert noted(imported, "tp_group 2 x dp_group 4")


def test_what_no_row_accounts_for_is_computing_between_the_operations(tmp_path: Path) -> None:
    imported = read(tmp_path, [HEADER, *ITERATION, end(39.0)])
    demand = imported.profile.demand
    assert demand.compute_s == pytest.approx(0.036)
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.012, 0.034])


def test_a_first_line_says_the_ranks(tmp_path: Path) -> None:
    imported = read(tmp_path, ["[rank0 ~ rank127]", *LOG])
    assert imported.profile.num_gpus == 128


@pytest.mark.parametrize(
    ("kind", "on_the_wire"),
    [
        ("all_reduce", 1500), ("all_gather", 750), ("reduce_scatter", 750), ("all_to_all", 750),
        ("broadcast", 1000), ("reduce", 1000), ("isend", 1000),
    ],
)  # fmt: skip
def test_wire_bytes(tmp_path: Path, kind: str, on_the_wire: float) -> None:
    assert sizes(read(tmp_path, [HEADER, row(kind, "dp_group", 4, 1000, 1, 1)])) == [on_the_wire]


def test_a_row_can_stand_for_many_calls(tmp_path: Path) -> None:
    calls = row("all_reduce", "dp_group", 2, 100, 1, 1).removesuffix("1") + "30"
    assert sizes(read(tmp_path, [HEADER, calls])) == [3000]


def test_computing_of_a_workload_is_in_nanoseconds(tmp_path: Path) -> None:
    lines = [
        HEADER,
        row("computation", "None", "None", "((8, 1, 4), (4, 2))", 752000, "None"),
        row("all_reduce", "tp_group", 2, 1000, "None", "None"),
        end("None", "None"),
    ]
    imported = read(tmp_path, lines)
    assert imported.profile.demand.compute_s == pytest.approx(752e-6)
    assert imported.profile.provenance == "reconstructed"
    assert imported.profile.measured_iteration_s is None


def test_computing_can_be_given_where_a_workload_has_none(tmp_path: Path) -> None:
    lines = [HEADER, row("all_reduce", "tp_group", 2, 1000, "None", "None"), end("None", "None")]
    assert noted(read(tmp_path, lines), "no computing is told")
    imported = read(tmp_path, lines, compute_s=0.2)
    assert imported.profile.demand.compute_s == pytest.approx(0.2)
    assert imported.profile.demand.transfers[0].ready_s == pytest.approx(0.1)
    assert refusal(tmp_path, LOG, compute_s=0.2).key == "--compute"


def test_a_size_that_only_some_rows_say_is_taken_from_them(tmp_path: Path) -> None:
    unsaid = row("all_gather", "tp_group", "None", 4000, 1.0, 1)
    imported = read(tmp_path, [HEADER, *ITERATION, unsaid, end(40.0)])
    assert sizes(imported)[-1] == 2000
    assert noted(imported, "1 row without the size of the group")


def test_a_size_that_no_row_says_is_asked_for(tmp_path: Path) -> None:
    lines = [HEADER, *ITERATION, row("all_to_all", "ep_group", "None", 6000, 1.0, 1)]
    error = refusal(tmp_path, lines)
    assert error.line == 6
    assert "--group-size ep_group=N" in error.allowed
    assert sizes(read(tmp_path, lines, group_sizes={"ep_group": 3}))[-1] == 4000
    partial = read(tmp_path, lines, partial=True)
    assert len(sizes(partial)) == 2
    assert noted(partial, "left out 1 collective", "'ep_group'")
    assert "'pp_group'" in str(refusal(tmp_path, LOG, group_sizes={"pp_group": 3}))


def test_the_usual_iteration_counts(tmp_path: Path) -> None:
    setup = row("broadcast", "tp_group", 2, 24, 600.0, 1)
    unfinished = row("all_reduce", "tp_group", 2, 1000, 1.0, 1.5)
    imported = read(tmp_path, [HEADER, setup, end(900.0), *LOG[1:], unfinished])
    assert sizes(imported) == [1000, 6000]
    assert noted(imported, "left out 1 of 3 iterations", "epoch 0")
    assert noted(imported, "left out 1 collective: of an iteration without its end")


def test_stages_of_a_pipeline(tmp_path: Path) -> None:
    lines = [
        HEADER,
        *ITERATION,
        row("isend", "pp_group", 1, 5000, 1, 0),
        row("irecv", "pp_group", 1, 5000, 1, 0),
        row("barrier", "all", "None", 1, 1, 0),
    ]
    imported = read(tmp_path, lines, group_sizes={"pp_group": 4})
    assert sizes(imported) == [1000, 6000, 5000]
    assert imported.profile.num_gpus == 2 * 4 * 4
    assert noted(imported, "1 receive")
    assert noted(imported, "'barrier' moves no data")
    assert read(tmp_path, lines).profile.num_gpus == 2 * 4 * 2


def test_packed_files_are_the_same(tmp_path: Path) -> None:
    plain = read(tmp_path, LOG)
    file = tmp_path / "log.csv.gz"
    file.write_bytes(gzip.compress((tmp_path / "log.csv").read_bytes()))
    packed = import_aicb(file, ImportOptions())
    assert packed.profile.demand == plain.profile.demand
    assert packed.profile.model == "log"


@pytest.mark.parametrize(
    ("lines", "line", "key", "problem"),
    [
        ([], 1, None, "no header"),
        (["comm_type,comm_group"], 1, None, "lacks the columns comm_group_size"),
        (["[rank3 ~ rank1]", HEADER], 1, None, "last rank"),
        ([HEADER, "CommType.all_reduce,CommGroup.dp_group"], 2, None, "has 2 values"),
        ([HEADER, row("all_reduce", "dp", 2, -1, 1, 1)], 2, "msg_size", "number"),
        ([HEADER, row("all_reduce", "dp", 2, "nan", 1, 1)], 2, "msg_size", "number"),
        ([HEADER, row("all_reduce", "dp", 2.5, 1, 1, 1)], 2, "comm_group_size", "workers"),
        ([HEADER, row("all_reduce", "dp", 0, 1, 1, 1)], 2, "comm_group_size", "workers"),
        ([HEADER, row("all_reduce", "dp", 2, 1, "soon", 1)], 2, "_elapsed_time", "number"),
        ([HEADER, row("all_reduce", "dp", 1, 1, 1, 1)], None, None, "group of one worker"),
        ([HEADER, row("gossip", "dp", 2, 1, 1, 1)], None, None, "'gossip'"),
        ([HEADER, row("irecv", "dp", 2, 1, 1, 1)], None, None, "only receives"),
    ],
)
def test_bad_files(
    tmp_path: Path, lines: list[str], line: int | None, key: str | None, problem: str
) -> None:
    error = refusal(tmp_path, lines)
    assert (error.line, error.key) == (line, key)
    assert problem in str(error)
    assert error.allowed


def test_a_file_that_is_cut_off_is_refused_or_read_in_part(tmp_path: Path) -> None:
    file = tmp_path / "cut.csv"
    file.write_text("\n".join(LOG)[:-30], encoding="utf-8")
    with pytest.raises(BadInputError) as caught:
        import_aicb(file, ImportOptions())
    assert caught.value.line == len(LOG)
    assert "--partial" in caught.value.allowed
    imported = import_aicb(file, ImportOptions(partial=True))
    assert noted(imported, f"line {len(LOG)} is cut off")
    assert len(imported.iterations) == 1


@given(data=damaged("\n".join(LOG).encode()), partial=st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_are_read_or_refused(tmp_path: Path, data: bytes, partial: bool) -> None:
    options = ImportOptions(partial=partial)
    check_read_or_refused(lambda file: import_aicb(file, options), tmp_path / "log.csv", data)


@pytest.mark.data
def test_the_published_log() -> None:
    (file,) = real_files("aicb", "A100_example.csv")
    imported = import_aicb(file, ImportOptions(group_sizes={"ep_group": 4}))
    assert len(imported.iterations) == 11  # the first is the set-up
    usual = imported.iterations[5]
    mib = 2**20
    assert counts(usual) == {
        ("broadcast", 2): (4, 2 * (40 + 16448)),
        ("allreduce", 2): (2 * 2 + 6 + 1, 4 * 16 * mib + 6 * 8192 + 4),
        ("allreduce", 4): (2, 2 * 4),
        ("allgather", 2): (6 * 64, 64 * (3 * 16 * mib + 65536 + 32 + 128 * mib)),
        ("reducescatter", 2): (3 * 64, 64 * (2 * 16 * mib + 128 * mib)),
        ("alltoall", 2): (2 * 64, 2 * 64 * 8 * mib),
        ("alltoall", 4): (2 * 64, 2 * 64 * 32 * mib),
        ("reducescatter", 4): (1, 35_634_282_496),
        ("allgather", 4): (1, 17_817_141_248),
    }
    assert sum(one.wire_bytes for one in usual.collectives) == 55_190_242_528
    profile = imported.profile
    assert profile.demand.bytes_per_worker == pytest.approx(55_190_242_528, rel=0.005)
    assert profile.num_gpus == 8
    assert profile.measured_iteration_s == pytest.approx(0.4418, abs=1e-4)
    assert noted(imported, "1,920 rows without the size of the group")
