"""SimAI and ASTRA-sim 1.0 workloads: one small file per behaviour, and the published ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.traces.communication import check_read_or_refused, noted, real_files, sizes
from tests.unit.traces.damage import damaged
from traces.communication_trace import CommunicationImport, ImportOptions
from traces.errors import BadInputError
from traces.formats.simai import import_simai

FIRST = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 8 ga: 1 "
    "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0"
)
LAYERS = [
    "attention -1 1000000 ALLREDUCE 1000 2000000 ALLREDUCE 3000 4000000 ALLREDUCE 8000 100",
    "mlp\t  -1 500000\tALLGATHER 2000 600000 NONE 0 700000 REDUCESCATTER_DP_EP 4000 100",
]


def read(folder: Path, lines: list[str], **options: object) -> CommunicationImport:
    file = folder / "workload.txt"
    file.write_text("\n".join(lines), encoding="utf-8")
    return import_simai(file, ImportOptions(**options))  # type: ignore[arg-type]


def refusal(folder: Path, lines: list[str], **options: object) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        read(folder, lines, **options)
    return caught.value


def test_layers_run_forward_and_then_backward(tmp_path: Path) -> None:
    imported = read(tmp_path, [FIRST, "2", *LAYERS])
    demand = imported.profile.demand
    assert demand.compute_s == pytest.approx((1.0 + 0.5 + 0.6 + 0.7 + 2.0 + 4.0) * 1e-3)
    assert [
        (one.name, one.bytes, round(one.ready_s, 9), one.blocking) for one in demand.transfers
    ] == [
        ("allreduce", 1000, 0.0010, True),  # tp of 2
        ("allgather", 1000, 0.0015, True),
        ("reducescatter", 4000 * 3 / 4, 0.0028, False),  # dp_ep: 16 / 2 / 2
        ("allreduce", 3000, 0.0048, True),
        ("allreduce", 8000 * 2 * 7 / 8, 0.0088, False),  # dp: 16 / 2
    ]
    assert imported.profile.num_gpus == 16
    assert imported.profile.provenance == "reconstructed"


def test_data_parallel_layers_have_their_weights_first(tmp_path: Path) -> None:
    layer = "one -1 1000 NONE 0 2000 NONE 0 4000 ALLREDUCE 8000 100"
    imported = read(tmp_path, ["DATA", "1", layer], group_sizes={"dp": 4})
    assert imported.profile.demand.transfers[0].ready_s == pytest.approx(5e-6)
    assert imported.profile.num_gpus == 4


def test_only_the_collectives_of_weights_do_not_block(tmp_path: Path) -> None:
    layer = "moe -1 1000 NONE 0 2000 ALLREDUCE_EP 8000 2000 ALLREDUCE_EP 8000 100"
    demand = read(tmp_path, [FIRST, "1", layer]).profile.demand
    assert [one.blocking for one in demand.transfers] == [True, False]


def test_times_of_1_are_not_known(tmp_path: Path) -> None:
    layer = "one -1 1 ALLREDUCE 1000 1 NONE 0 1 NONE 0 100"
    imported = read(tmp_path, [FIRST, "1", layer])
    assert imported.profile.demand.compute_s == 0
    assert noted(imported, "compute times are 1")
    assert noted(imported, "--compute")
    given_s = read(tmp_path, [FIRST, "1", layer], compute_s=0.3).profile.demand
    assert (given_s.compute_s, given_s.transfers[0].ready_s) == pytest.approx((0.3, 0.15))


def test_the_size_of_a_group_that_is_not_told_is_asked_for(tmp_path: Path) -> None:
    lines = ["HYBRID_TRANSFORMER model_parallel_NPU_group: 2", "1", LAYERS[0]]
    error = refusal(tmp_path, lines)
    assert error.line == 3
    assert "--group-size dp=N" in error.allowed
    assert sizes(read(tmp_path, lines, partial=True)) == [1000, 3000]
    assert read(tmp_path, lines, group_sizes={"dp": 3}).profile.num_gpus == 6


def test_a_pipeline_is_noted(tmp_path: Path) -> None:
    imported = read(tmp_path, [FIRST.replace("pp: 1", "pp: 2"), "1", LAYERS[0]])
    assert noted(imported, "2 stages of the pipeline")
    assert sizes(imported)[-1] == 8000 * 2 * 3 / 4


def test_more_and_fewer_rows_than_declared(tmp_path: Path) -> None:
    fewer = refusal(tmp_path, [FIRST, "3", *LAYERS])
    assert (fewer.line, "2 of the 3 rows" in str(fewer)) == (4, True)
    assert "--partial" in fewer.allowed
    more = refusal(tmp_path, [FIRST, "1", *LAYERS])
    assert (more.line, "more than the 1 rows" in str(more)) == (4, True)
    imported = read(tmp_path, [FIRST, "3", *LAYERS], partial=True)
    assert len(sizes(imported)) == 5
    assert noted(imported, "ends after 2 of the 3 rows")
    assert len(sizes(read(tmp_path, [FIRST, "1", *LAYERS], partial=True))) == 3


def test_a_row_that_is_cut_off_is_refused_or_left_out(tmp_path: Path) -> None:
    cut = [FIRST, "2", LAYERS[0], LAYERS[1][:30]]
    assert refusal(tmp_path, cut).line == 4
    imported = read(tmp_path, cut, partial=True)
    assert len(sizes(imported)) == 3
    assert noted(imported, "line 4 is cut off")


@pytest.mark.parametrize(
    ("lines", "line", "key", "problem"),
    [
        ([], 1, None, "empty"),
        ([FIRST], 1, None, "number of rows"),
        (["HYBRID_DLRM", "1", LAYERS[0]], 1, None, "'HYBRID_DLRM' is not known"),
        ([FIRST, "many", LAYERS[0]], 2, "the number of rows", "'many'"),
        ([FIRST, "-1", LAYERS[0]], 2, "the number of rows", "'-1'"),
        ([FIRST.replace("p: 2", "p: x"), "1", LAYERS[0]], 1, "model_parallel_NPU_group", "'x'"),
        ([FIRST.replace("p: 2", "p: 0"), "1", LAYERS[0]], 1, "model_parallel_NPU_group", "one"),
        ([FIRST.replace("16", "15"), "1", LAYERS[0]], 1, "all_gpus", "15"),
        ([FIRST.replace("checkpoints: 0", "checkpoints: 2 3 4"), "1", LAYERS[0]], 1,
         "checkpoints", "more than 0"),
        ([FIRST, "1", "short -1 1"], 3, None, "3 columns"),
        ([FIRST, "1", LAYERS[0].replace("2000000", "2e6")], 3, "backward compute time", "'2e6'"),
        ([FIRST, "1", LAYERS[0].replace(" 8000", " -8")], 3, "dp size", "'-8'"),
        ([FIRST, "1", LAYERS[0].replace(" 8000", " " + "9" * 30)], 3, "dp size", "whole number"),
        ([FIRST, "1", "x -1 1 NONE 0 1 NONE 0 1 NONE 0 100"], None, None, "moves bytes"),
        ([FIRST, "1", "x -1 1 GOSSIP 8 1 NONE 0 1 NONE 0 100"], None, None, "'GOSSIP'"),
    ],
)  # fmt: skip
def test_bad_files(
    tmp_path: Path, lines: list[str], line: int | None, key: str | None, problem: str
) -> None:
    error = refusal(tmp_path, lines)
    assert (error.line, error.key) == (line, key)
    assert problem in str(error)
    assert error.allowed


@given(data=damaged("\n".join([FIRST, "2", *LAYERS]).encode()), partial=st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_are_read_or_refused(tmp_path: Path, data: bytes, partial: bool) -> None:
    options = ImportOptions(partial=partial)
    check_read_or_refused(lambda file: import_simai(file, options), tmp_path / "w.txt", data)


def forward(imported: CommunicationImport, count: int, name: str) -> tuple[int, float]:
    """Of the first ``count`` collectives, those of ``name``, and the bytes of their buffers."""
    found = [one.bytes for one in imported.iterations[0].collectives[:count] if one.name == name]
    return len(found), sum(found)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "tensor", "calls", "reduced", "gathered", "scattered"),
    [
        ("G13B-M1-C01_GPT13B_megatron_tp8_pp1_mbs1_A100.txt", 8, 89, 2.03e9, 3.25e9, 6.50e9),
        ("L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1_A100.txt", 2, 73, 1.35e9, 6.76e9, 13.5e9),
    ],
)
def test_published_workloads(
    name: str, tensor: int, calls: int, reduced: float, gathered: float, scattered: float
) -> None:
    (file,) = real_files("simai", name)
    imported = import_simai(file, ImportOptions(group_sizes={"dp": 16}))
    for kind, expected in (("allreduce", (calls, reduced)), ("allgather", (1, gathered))):
        assert forward(imported, calls + 2, kind) == pytest.approx(expected, rel=3e-3)
    (scatter,) = (one for one in imported.iterations[0].collectives if one.name == "reducescatter")
    assert scatter.bytes == pytest.approx(scattered, rel=3e-3)
    assert scatter.wire_bytes == scatter.bytes * 15 / 16
    assert imported.profile.num_gpus == tensor * 16
    with pytest.raises(BadInputError, match="'dp' is not told"):
        import_simai(file, ImportOptions())


@pytest.mark.data
def test_the_published_workload_that_lacks_most_of_its_rows() -> None:
    (file,) = real_files("simai", "L65B-M1-C05_Llama65B_megatron_tp8_pp1_mbs1_A100.txt")
    sizes_of = {"dp": 16}
    with pytest.raises(BadInputError) as caught:
        import_simai(file, ImportOptions(group_sizes=sizes_of))
    assert (caught.value.file, caught.value.line) == (file, 35)
    assert "33 of the 839 rows" in str(caught.value)
    imported = import_simai(file, ImportOptions(group_sizes=sizes_of, partial=True))
    assert noted(imported, "33 of the 839 rows")
    assert len(imported.iterations[0].collectives) == 33
