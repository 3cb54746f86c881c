"""demand import: a file or the files of all ranks, named or told, into a profile and a report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.traces.test_aicb import HEADER, ITERATION, LOG, end
from tests.unit.traces.test_chakra import TRAINING, collective, write
from traces.model_profile import read_profile


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "megatron.csv"
    file.write_text("\n".join(LOG) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("named", [(), ("aicb",)])
def test_a_file_becomes_a_profile(
    roundelay: Roundelay, log: Path, tmp_path: Path, named: tuple[str, ...]
) -> None:
    target = tmp_path / "demand.json"
    result = roundelay("demand", "import", *named, log, "-o", target, "--model", "gpt", "--json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    profile = read_profile(target)
    assert (profile.model, profile.num_gpus) == ("gpt", 8)
    assert document["file"] == str(target)
    assert document["profile"]["demand"]["compute_s"] == profile.demand.compute_s
    first = document["iterations"][0]
    assert first["collectives"][0] == {
        "name": "allreduce", "ready_s": pytest.approx(0.01), "bytes": 1000, "wire_bytes": 1000,
        "group_size": 2,
    }  # fmt: skip
    assert first["duration_s"] == pytest.approx(0.033)
    assert any("tp_group 2 x dp_group 4" in note for note in document["notes"])
    assert "1 allreduce" in result.stderr
    assert "note: " in result.stderr


def test_files_of_all_ranks(roundelay: Roundelay, tmp_path: Path) -> None:
    files = write(tmp_path, TRAINING)
    target = tmp_path / "out.json"
    result = roundelay("demand", "import", "chakra", *files, "-o", target)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    assert read_profile(target).num_gpus == 4


def test_a_long_log_shows_its_first_iterations(roundelay: Roundelay, log: Path) -> None:
    log.write_text("\n".join([HEADER, *[*ITERATION, end(33.0)] * 25]), encoding="utf-8")
    result = roundelay("demand", "import", log, "-o", log.with_suffix(".json"))
    assert result.exit_code == 0, result.stderr
    assert "epoch 19" in result.stderr
    assert "epoch 20" not in result.stderr
    assert "and 5 more iterations" in result.stderr


def test_options_for_what_a_file_does_not_say(roundelay: Roundelay, tmp_path: Path) -> None:
    (file,) = write(tmp_path, [collective(1, 0, 8000)], ranks=1)
    target = tmp_path / "out.json"
    words = ("demand", "import", file, "-o", target)
    assert "--group-size all=N" in roundelay(*words).stderr
    options = ("--group-size", "all=4", "--compute", "300 ms")
    result = roundelay(*words, *options)
    assert result.exit_code == 0, result.stderr
    demand = read_profile(target).demand
    assert (demand.compute_s, demand.bytes_per_worker) == pytest.approx((0.3, 12_000))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--group-size", "dp"), "--group-size: 'dp' is no size of a group"),
        (("--group-size", "dp=0"), "'dp=0' is no size of a group"),
        (("--group-size", "dp=99999999999"), "is no size of a group"),
        (("--compute", "300"), "--compute: '300' is not a number with a unit"),
        (("--compute", "300 ms"), "tells itself how long an iteration computes"),
        (("-o", "/nowhere/at/all.json"), "cannot be written"),
    ],
)
def test_bad_input_is_one_line(
    roundelay: Roundelay, log: Path, options: tuple[str, ...], said: str
) -> None:
    result = roundelay("demand", "import", log, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert "; allowed: " in result.stderr
