"""The registry of formats of communication: told by content, and refused by name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.unit.traces.communication import real_files
from tests.unit.traces.test_aicb import LOG
from tests.unit.traces.test_chakra import METADATA, TRAINING
from tests.unit.traces.test_nccl_inspector import text_of, training
from tests.unit.traces.test_simai import FIRST, LAYERS
from traces.communication_trace import ImportOptions
from traces.errors import BadInputError
from traces.formats.communication_formats import (
    COMMUNICATION_FORMATS,
    communication_format_of,
    import_communication,
)

CONTENTS = {
    "aicb": "\n".join(LOG).encode(),
    "simai": "\n".join([FIRST, "2", *LAYERS]).encode(),
    "nccl-inspector": text_of(training(3)).encode(),
    "kineto": json.dumps({"schemaVersion": 1, "traceEvents": []}, indent=1).encode(),
    "chakra": METADATA + b"".join(TRAINING),
}


def test_the_formats_are_these() -> None:
    assert set(COMMUNICATION_FORMATS) == set(CONTENTS)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", CONTENTS)
def test_a_format_is_told_by_its_content(tmp_path: Path, name: str, packed: bool) -> None:
    file = tmp_path / "trace"
    file.write_bytes(gzip.compress(CONTENTS[name]) if packed else CONTENTS[name])
    assert communication_format_of(file).name == name


def test_a_first_line_with_ranks_is_of_aicb(tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_bytes(b"[rank0 ~ rank127]\n" + CONTENTS["aicb"])
    assert communication_format_of(file).name == "aicb"


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\x1f\x8b damaged", b"job,gpus\n1,2\n", b"\xff\xff"]
)
def test_other_files_are_refused_with_the_formats(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "trace"
    file.write_bytes(content)
    with pytest.raises(BadInputError, match="its format is not known") as caught:
        import_communication([file])
    assert "nccl-inspector" in caught.value.allowed


def test_what_cannot_be_read_and_what_is_no_format(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="No such file"):
        import_communication([tmp_path / "none"])
    with pytest.raises(BadInputError, match="directory"):
        import_communication([tmp_path])
    with pytest.raises(BadInputError, match="'pcapng' is no format"):
        import_communication([tmp_path], "pcapng")


def test_options_that_a_format_has_no_use_for(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_bytes(CONTENTS["kineto"])
    with pytest.raises(BadInputError, match="no use for it") as caught:
        import_communication([file], options=ImportOptions(partial=True))
    assert caught.value.key == "--partial"


def test_one_file_where_a_format_has_no_file_per_rank(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_bytes(CONTENTS["aicb"])
    with pytest.raises(BadInputError, match="all in one file"):
        import_communication([file, file])
    assert import_communication([file]).profile.num_gpus == 8


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("aicb", ("aicb", "A100_example.csv")),
        ("simai", ("simai",)),
        ("kineto", ("kineto",)),
        ("chakra", ("chakra", "all_reduce", "16npus_1MB")),
        ("chakra", ("chakra", "all_to_all", "4npus_1MB")),
    ],
)
def test_published_files_are_told(name: str, place: tuple[str, ...]) -> None:
    assert {communication_format_of(file).name for file in real_files(*place)} == {name}
