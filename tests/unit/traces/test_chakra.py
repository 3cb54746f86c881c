"""Chakra traces: graphs written here, one for each behaviour, and the published microbenchmarks."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.traces.communication import check_read_or_refused, noted, real_files, sizes
from tests.unit.traces.damage import damaged
from traces.communication_trace import CommunicationImport, ImportOptions
from traces.errors import BadInputError
from traces.formats import chakra_nodes
from traces.formats.chakra import import_chakra
from traces.formats.protobuf_fields import DamagedMessageError, fields_of, signed

COMPUTE, SEND, RECEIVE, COLLECTIVE = 4, 5, 6, 7
ALL_REDUCE, GATHER, ALL_GATHER, ALL_TO_ALL, REDUCE_SCATTER, BARRIER = 0, 3, 2, 6, 7, 9


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name: str, number: int, value: int | bytes) -> bytes:
    return field(10, field(1, name.encode()) + field(number, value))


def delimited(message: bytes) -> bytes:
    return varint(len(message)) + message


METADATA = delimited(field(1, b"0.0.4"))


def node(
    id: int, kind: int, *attributes: bytes, waits_for: Sequence[int] = (), micros: int = 0
) -> bytes:
    packed = b"".join(map(varint, waits_for))
    return delimited(
        field(1, id)
        + field(2, b"a node")
        + field(3, kind)
        + (field(5, packed) if packed else b"")
        + field(6, 17)
        + field(7, micros)
        + b"".join(attributes)
    )


def compute(id: int, micros: int, *waits_for: int, on_cpu: bool = False) -> bytes:
    is_cpu_op = attribute("is_cpu_op", 27, on_cpu)
    return node(id, COMPUTE, is_cpu_op, waits_for=waits_for, micros=micros)


def collective(id: int, kind: int, size: int, *waits_for: int, group: str | None = None) -> bytes:
    attributes = [
        attribute("is_cpu_op", 27, 0),
        attribute("comm_type", 9, kind),
        attribute("comm_size", 9, size),
    ]
    if group is not None:
        attributes.append(attribute("pg_name", 29, group.encode()))
    return node(id, COLLECTIVE, *attributes, waits_for=waits_for)


def write(folder: Path, nodes: Sequence[bytes], ranks: int = 4) -> list[Path]:
    files = [folder / f"job.{rank}.et" for rank in range(ranks)]
    for file in files:
        file.write_bytes(METADATA + b"".join(nodes))
    return files


def read(folder: Path, *nodes: bytes, ranks: int = 4, **options: object) -> CommunicationImport:
    files = write(folder, nodes, ranks)
    return import_chakra(files, ImportOptions(**options))  # type: ignore[arg-type]


def refusal(folder: Path, *nodes: bytes, **options: object) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read(folder, *nodes, **options)  # type: ignore[arg-type]
    assert caught.value.allowed
    return caught.value


TRAINING = (
    compute(1, 1000),
    collective(2, ALL_REDUCE, 8000, 1),
    compute(3, 500, 1),
    collective(4, ALL_REDUCE, 4000, 3),
    compute(5, 200, 3, 2, 4),
)


def test_a_graph_gives_ready_times_without_the_network(tmp_path: Path) -> None:
    imported = read(tmp_path, *TRAINING)
    demand = imported.profile.demand
    assert demand.compute_s == pytest.approx(1.7e-3)
    assert sizes(imported) == [12_000, 6_000]
    assert [one.ready_s for one in demand.transfers] == pytest.approx([1e-3, 1.5e-3])
    # The first overlaps with node 3, and node 5 waits for the second.
    assert [one.blocking for one in demand.transfers] == [False, True]
    assert (imported.profile.num_gpus, imported.profile.model) == (4, "job")


def test_a_collective_that_the_next_computing_waits_for_blocks(tmp_path: Path) -> None:
    imported = read(
        tmp_path, compute(1, 1000), collective(2, ALL_REDUCE, 8000, 1), compute(3, 500, 2),
        collective(4, ALL_REDUCE, 800, 3),
    )  # fmt: skip
    assert [one.blocking for one in imported.profile.demand.transfers] == [True, False]


def test_the_order_in_the_file_does_not_matter(tmp_path: Path) -> None:
    forwards, backwards = read(tmp_path, *TRAINING), read(tmp_path, *reversed(TRAINING))
    assert forwards.profile.demand == backwards.profile.demand


def test_the_gpu_computes_one_node_at_a_time_and_the_cpu_beside_it(tmp_path: Path) -> None:
    demand = read(
        tmp_path, compute(1, 300), compute(2, 400), compute(3, 100, on_cpu=True),
        collective(4, ALL_REDUCE, 8000, 2, 3),
    ).profile.demand  # fmt: skip
    assert demand.compute_s == pytest.approx(700e-6)
    assert demand.transfers[0].ready_s == pytest.approx(700e-6)


@pytest.mark.parametrize(
    ("kind", "on_the_wire"),
    [(ALL_REDUCE, 1500), (ALL_GATHER, 3000), (ALL_TO_ALL, 750), (REDUCE_SCATTER, 750), (8, 750)],
)
def test_wire_bytes_are_made_of_the_input(tmp_path: Path, kind: int, on_the_wire: float) -> None:
    assert sizes(read(tmp_path, collective(1, kind, 1000))) == [on_the_wire]


def test_the_size_of_a_group_is_the_number_of_files_that_use_it(tmp_path: Path) -> None:
    files = write(tmp_path, [collective(1, ALL_REDUCE, 1000, group="7")], ranks=4)
    for file in files[2:]:
        file.write_bytes(METADATA + collective(1, ALL_REDUCE, 1000, group="8"))
    imported = import_chakra(files, ImportOptions())
    assert sizes(imported) == [1000]
    assert imported.profile.num_gpus == 4
    assert noted(imported, "2 of 4 ranks communicate otherwise")
    assert noted(imported, "the groups have 2 workers, the job 4")


def test_one_file_needs_the_size_of_the_group(tmp_path: Path) -> None:
    node_of_all = collective(1, ALL_REDUCE, 1000)
    assert "--group-size all=N" in refusal(tmp_path, node_of_all, ranks=1).allowed
    assert sizes(read(tmp_path, node_of_all, ranks=1, group_sizes={"all": 8})) == [1750]


def test_dimensions_that_are_left_out_are_a_group(tmp_path: Path) -> None:
    def involved(*flags: int) -> bytes:
        packed = b"".join(map(varint, flags))
        return collective(1, ALL_REDUCE, 1000)[1:] + attribute("involved_dim", 28, field(1, packed))

    everything, some = delimited(involved(1, 1)), delimited(involved(1, 0))
    assert sizes(read(tmp_path, everything)) == [1500]
    assert "'dimensions-10'" in str(refusal(tmp_path, some))


def test_files_of_all_ranks_are_wanted(tmp_path: Path) -> None:
    files = write(tmp_path, TRAINING, ranks=12)
    import_chakra(files[::-1], ImportOptions())
    for wrong, problem in (
        ([files[0], files[1], files[10]], "rank 2 is missing"),
        ([files[0], files[0]], "is of rank 0, as is"),
        ([files[0], tmp_path / "other.et"], "does not say its rank"),
    ):
        with pytest.raises(BadInputError, match=problem):
            import_chakra(wrong, ImportOptions())


def test_sends_receives_and_what_moves_nothing(tmp_path: Path) -> None:
    size = attribute("comm_size", 9, 500)
    imported = read(
        tmp_path,
        node(1, SEND, size),
        node(2, RECEIVE, size),
        collective(3, BARRIER, 0),
        collective(4, GATHER, 500),
        node(5, COLLECTIVE, attribute("comm_type", 9, ALL_REDUCE)),
        node(6, SEND, size, attribute("is_cpu_op", 27, 1)),
        node(7, 2),
    )
    assert sizes(imported) == [500]
    for said in ("1 receive", "'BARRIER' moves no data", "'GATHER' is not", "without comm_size",
                 "by the CPU"):  # fmt: skip
        assert noted(imported, said), said


def test_nodes_that_wait_for_none_that_is_there(tmp_path: Path) -> None:
    lost = (*TRAINING, compute(9, 100, 77, 5))
    error = refusal(tmp_path, *lost)
    assert "node 9 waits for the node 77" in str(error)
    assert "--partial" in error.allowed
    imported = read(tmp_path, *lost, partial=True)
    assert noted(imported, "1 wait for nodes")
    assert imported.profile.demand.compute_s == pytest.approx(1.8e-3)


def test_nodes_that_wait_for_each_other(tmp_path: Path) -> None:
    assert "2 nodes wait for each other: 1, 2" in str(
        refusal(tmp_path, compute(1, 5, 2), compute(2, 5, 1), collective(3, ALL_REDUCE, 8))
    )


def test_packed_files_are_the_same(tmp_path: Path) -> None:
    plain = read(tmp_path, *TRAINING)
    packed = [tmp_path / f"job.{rank}.et.gz" for rank in range(4)]
    for file in packed:
        file.write_bytes(gzip.compress((tmp_path / "job.0.et").read_bytes()))
    assert import_chakra(packed, ImportOptions()).profile.demand == plain.profile.demand


def test_computing_can_be_given_for_a_microbenchmark(tmp_path: Path) -> None:
    demand = read(tmp_path, collective(1, ALL_REDUCE, 8), compute_s=0.1).profile.demand
    assert (demand.compute_s, demand.transfers[0].ready_s) == pytest.approx((0.1, 0.05))
    assert refusal(tmp_path, *TRAINING, compute_s=0.1).key == "--compute"


@pytest.mark.parametrize(
    ("content", "key", "problem"),
    [
        (b"", "message 1", "empty"),
        (b"\xff" * 20, "message 1", "no varint"),
        (b"\xff", "message 1", "ends in the length"),
        (varint(2**40), "message 1", "longer than 16,777,216"),
        (b"\x0a\x0a", "message 1", "after 1 of the 10 bytes"),
        (METADATA + varint(20) + b"\x08\x01", "message 2", "after 2 of the 20 bytes"),
        (METADATA + delimited(b"\x00\x00"), "message 2", "number 0"),
        (METADATA + delimited(b"\x0b"), "message 2", "no known kind"),
        (METADATA + delimited(b"\x0a\x7f"), "message 2", "longer than its message"),
        (METADATA + delimited(b"\x08"), "message 2", "varint does not end"),
        (METADATA + delimited(field(1, b"one")), "message 2", "no number"),
        (METADATA + delimited(field(10, 5)), "message 2", "no length"),
        (METADATA + delimited(field(10, field(1, b"\xff"))), "message 2", "not UTF-8"),
        (METADATA + node(1, 99), "message 2", "type 99"),
        (METADATA + compute(1, 2**60), "message 2", "duration_micros"),
        (METADATA + collective(1, ALL_REDUCE, -5), "message 2", "comm_size"),
        (METADATA + compute(1, 5) * 2, "message 3", "two nodes with the id 1"),
        (METADATA, None, "no collective that moves bytes"),
        (b"\x1f\x8b", None, "ends too early"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, key: str | None, problem: str) -> None:
    file = tmp_path / "bad.0.et"
    file.write_bytes(content)
    with pytest.raises(BadInputError) as caught:
        import_chakra([file], ImportOptions())
    assert caught.value.file == file
    assert problem in str(caught.value)
    if key is not None:
        assert caught.value.key == key


def test_too_many_nodes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chakra_nodes, "MAX_NODES", 3)
    assert "more than 3 nodes" in str(refusal(tmp_path, *TRAINING))


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        import_chakra([tmp_path / "none.0.et"], ImportOptions())


def test_fields_that_nothing_needs_are_passed_over() -> None:
    fixed = varint(3 << 3 | 1) + bytes(8) + varint(4 << 3 | 5) + bytes(4)
    assert [found.number for found in fields_of(fixed + field(6, 9))] == [6]
    assert signed(2**64 - 5) == -5
    with pytest.raises(DamagedMessageError):
        list(fields_of(fixed[:-1]))


@given(data=damaged(METADATA + b"".join(TRAINING)), partial=st.booleans())
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_are_read_or_refused(tmp_path: Path, data: bytes, partial: bool) -> None:
    options = ImportOptions(partial=partial, group_sizes={"all": 4})
    check_read_or_refused(lambda file: import_chakra([file], options), tmp_path / "job.0.et", data)


@pytest.mark.data
@pytest.mark.parametrize("ranks", [4, 8, 16])
@pytest.mark.parametrize(("name", "factor"), [("all_reduce", 2.0), ("all_to_all", 1.0)])
def test_published_microbenchmarks_of_1_mb(name: str, factor: float, ranks: int) -> None:
    imported = import_chakra(real_files("chakra", name, f"{ranks}npus_1MB"), ImportOptions())
    (one,) = imported.iterations[0].collectives
    assert (one.bytes, one.group_size) == (2**20, ranks)
    assert sizes(imported) == [factor * (ranks - 1) / ranks * 2**20]
    assert (imported.profile.num_gpus, imported.profile.model) == (ranks, name)
