"""Logs of NCCL's Inspector, written here as its README shows them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.traces.communication import check_read_or_refused, noted, sizes
from tests.unit.traces.damage import damaged
from traces.communication_trace import CommunicationImport, ImportOptions
from traces.errors import BadInputError
from traces.formats.nccl_inspector import import_nccl_inspector
from traces.formats.repeating_sequence import repeating_end

BEGIN_US = 1_752_867_229_000_000
METADATA = {"inspector_output_format_version": "v4.2", "dump_timestamp_us": BEGIN_US, "pid": 7}


def header(ranks: int = 8, id: str = "0x7f", rank: int = 2) -> dict[str, Any]:
    return {"id": id, "rank": rank, "n_ranks": ranks, "nnodes": 2}


def collective(
    serial: int, name: str, size: int, at_us: int | None = None, took_us: int = 1000
) -> dict[str, Any]:
    values: dict[str, Any] = {
        "coll": name,
        "coll_sn": serial,
        "coll_msg_size_bytes": size,
        "coll_exec_time_us": took_us,
        "coll_timing_source": "kernel_gpu",
    }
    if at_us is not None:
        # The host issues it 50 us before its first kernel begins.
        starts = [BEGIN_US + at_us, BEGIN_US + at_us + 3]
        values["event_trace_ts"] = {
            "coll_start_ts": BEGIN_US + at_us - 50,
            "coll_stop_ts": BEGIN_US + at_us - 45,
            "kernel_events": [{"channel_id": 0, "kernel_start_ts": one} for one in starts],
        }
    return {"coll_perf": values}


def whole(record: dict[str, Any], **of_header: Any) -> dict[str, Any]:
    """A record as up to v4.2, which says its communicator."""
    return {"header": header(**of_header), "metadata": METADATA, **record}


def training(iterations: int, timed: bool = True) -> list[dict[str, Any]]:
    """Each 10 ms long: 4 ms of computing, 1 ms a gather, 2 ms, 1 ms a reduction, 2 ms."""
    records = []
    for number in range(iterations):
        begin_us = 10_000 * number
        at = (begin_us + 4000, begin_us + 7000) if timed else (None, None)
        records.append(whole(collective(2 * number, "AllGather", 16_000, at[0])))
        records.append(whole(collective(2 * number + 1, "AllReduce", 80_000, at[1])))
    return records


def text_of(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def read(folder: Path, records: list[dict[str, Any]], **options: Any) -> CommunicationImport:
    file = folder / "host-pid7.log"
    file.write_text(text_of(records), encoding="utf-8")
    return import_nccl_inspector(file, ImportOptions(**options))


def refusal(folder: Path, records: list[dict[str, Any]], **options: Any) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read(folder, records, **options)
    assert caught.value.allowed
    return caught.value


def test_iterations_are_what_repeats(tmp_path: Path) -> None:
    setup = whole(collective(0, "Broadcast", 9000, -20_000))
    imported = read(tmp_path, [setup, *training(4)])
    demand = imported.profile.demand
    # The iteration begins with its first operation: 2 ms of computing, and 2 + 4 ms after it.
    assert demand.compute_s == pytest.approx(0.008)
    assert [one.ready_s for one in demand.transfers] == pytest.approx([0.0, 0.002])
    assert sizes(imported) == [7 * 16_000, 80_000 * 14 / 8]
    assert imported.profile.measured_iteration_s == pytest.approx(0.010)
    assert (imported.profile.num_gpus, len(imported.iterations)) == (8, 3)
    for said in (("1 collective", "before what repeats"), ("2 collectives", "whose end"),
                 ("2 operations that repeat",)):  # fmt: skip
        assert noted(imported, *said), said


def test_the_order_of_the_dumps_does_not_matter(tmp_path: Path) -> None:
    assert read(tmp_path, training(3)[::-1]).profile.demand == (
        read(tmp_path, training(3)).profile.demand
    )


def test_wire_bytes_are_those_of_the_published_bus_bandwidths(tmp_path: Path) -> None:
    """The README's records: 8 ranks, their sizes and times, and the bandwidths they make."""
    for name, size, took_us, bus_gbs in (
        ("AllReduce", 17_179_869_184, 61_974, 485.119099),
        ("ReduceScatter", 2_147_483_648, 41_057, 366.134533),
    ):
        records = [whole(collective(serial, name, size, took_us=took_us)) for serial in (0, 1)]
        (on_the_wire,) = sizes(read(tmp_path, records))
        assert on_the_wire / (took_us * 1e-6) == pytest.approx(bus_gbs * 1e9, rel=1e-6)


def test_batches_say_their_communicator_once(tmp_path: Path) -> None:
    """From v4.3 on."""
    mark = {
        "header": header(ranks=4),
        "metadata": METADATA | {"inspector_output_format_version": "v4.3"},
        "dump_stats": {"coll_records": 2, "coll_dropped_total": 5, "p2p_dropped_total": 1},
    }
    bare = [collective(serial, "AllReduce", 4000) for serial in (0, 1)]
    proxy = {"proxy_trace": {"record_type": "proxy_op"}}
    imported = read(tmp_path, [mark, *bare, proxy])
    assert sizes(imported) == [6000]
    assert noted(imported, "6 records lost")
    error = refusal(tmp_path, bare)
    assert (error.line, error.key) == (1, "header")


def test_a_log_without_times(tmp_path: Path) -> None:
    imported = read(tmp_path, training(3, timed=False))
    assert len(imported.iterations) == 3
    assert imported.profile.demand.compute_s == 0
    assert noted(imported, "--compute")
    given_s = read(tmp_path, training(3, timed=False), compute_s=0.3).profile.demand
    assert [one.ready_s for one in given_s.transfers] == pytest.approx([0.1, 0.2])
    records = training(3, timed=False)
    records[1]["header"] = header(id="0x80")
    error = refusal(tmp_path, records)
    assert (error.line, error.key) == (1, "event_trace_ts")
    assert "NCCL_INSPECTOR_DUMP_VERBOSE=1" in error.allowed


def test_sends_and_receives(tmp_path: Path) -> None:
    def p2p(serial: int, name: str, peer: int, at_us: int) -> dict[str, Any]:
        times = {"p2p_start_ts": BEGIN_US + at_us, "kernel_events": []}
        values = {"p2p": name, "p2p_sn": serial, "p2p_peer": peer, "p2p_msg_size_bytes": 9000}
        return whole({"p2p_perf": values | {"p2p_exec_time_us": 10, "event_trace_ts": times}})

    records = [
        one
        for number in range(3)
        for one in (
            p2p(2 * number, "Send", 3, 1000 * number),
            p2p(2 * number, "Send", 2, 1000 * number + 1),  # to itself
            p2p(2 * number + 1, "Recv", 1, 1000 * number + 20),
        )
    ]
    imported = read(tmp_path, records)
    assert sizes(imported) == [9000]
    assert noted(imported, "sends to itself")
    assert noted(imported, "1 receive")


def test_what_does_not_repeat_is_no_training(tmp_path: Path) -> None:
    records = [whole(collective(serial, "AllReduce", 10_000 + serial)) for serial in range(5)]
    error = refusal(tmp_path, records)
    assert "repeats" in str(error)
    assert error.line == 5


@pytest.mark.parametrize(
    ("text", "line", "key", "problem"),
    [
        ("", None, None, "no operations"),
        ("3\n", 1, None, "not an object"),
        ("{\n", 1, None, "not sound JSON"),
        ('{"a": NaN}\n', 1, None, "not sound JSON"),
        ("[" * 100_000 + "\n", 1, None, "not sound JSON"),
        ('{"a": ' + "9" * 5000 + "}\n", 1, None, "not sound JSON"),
        ('{"header": {"rank": -1, "n_ranks": 2}}\n', 1, "rank", "whole number"),
        ('{"header": {"rank": 0, "n_ranks": 0}}\n', 1, "n_ranks", "less than one"),
        ('{"header": {"rank": 0, "n_ranks": true}}\n', 1, "n_ranks", "whole number"),
        (text_of([whole({"coll_perf": 3})]), 1, "coll_perf", "not an object"),
        (text_of([whole({"coll_perf": {}})]), 1, "coll", "no name"),
        (text_of([whole(collective(1, "AllReduce", -1))]), 1, "coll_msg_size_bytes", "whole"),
        (text_of([whole({"dump_stats": 3})]), 1, "dump_stats", "not an object"),
    ],
)
def test_bad_files(
    tmp_path: Path, text: str, line: int | None, key: str | None, problem: str
) -> None:
    file = tmp_path / "bad.log"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as caught:
        import_nccl_inspector(file, ImportOptions())
    assert (caught.value.file, caught.value.line, caught.value.key) == (file, line, key)
    assert problem in str(caught.value)


def test_a_log_that_is_cut_off_is_refused_or_read_in_part(tmp_path: Path) -> None:
    file = tmp_path / "cut.log"
    file.write_text(text_of(training(4))[:-40], encoding="utf-8")
    with pytest.raises(BadInputError) as caught:
        import_nccl_inspector(file, ImportOptions())
    assert caught.value.line == 8
    assert "--partial" in caught.value.allowed
    imported = import_nccl_inspector(file, ImportOptions(partial=True))
    assert noted(imported, "line 8 is cut off")


@given(data=damaged(text_of(training(3)).encode()), partial=st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_are_read_or_refused(tmp_path: Path, data: bytes, partial: bool) -> None:
    options = ImportOptions(partial=partial)
    check_read_or_refused(
        lambda file: import_nccl_inspector(file, options), tmp_path / "n.log", data
    )


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        ("", (0, 0)), ("a", (0, 0)), ("ab", (0, 0)), ("aa", (1, 2)), ("xabab", (2, 2)),
        ("sxabcabcabc", (3, 3)), ("aabaab", (3, 2)), ("abaabaab", (3, 2)), ("abcx", (0, 0)),
    ],
)  # fmt: skip
def test_repeating_ends(sequence: str, expected: tuple[int, int]) -> None:
    assert repeating_end(sequence) == expected


@given(
    before=st.lists(st.integers(0, 2), max_size=6),
    part=st.lists(st.integers(0, 2), min_size=1, max_size=5),
    times=st.integers(2, 4),
)
def test_the_end_found_is_the_longest_that_repeats(
    before: list[int], part: list[int], times: int
) -> None:
    sequence = before + part * times
    period, found = repeating_end(sequence)
    assert period * found + period > len(part) * times - period
    tail = sequence[len(sequence) - period * found :]
    assert tail == tail[:period] * found
    assert found >= 2
