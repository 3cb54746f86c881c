"""trace convert, formats and columns: what is printed, refused and written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from tests.unit.harness.cli.conftest import Roundelay
from traces.formats.csv_mapping import read_mapping
from traces.formats.traces import TRACE_FORMATS, read_jobs
from traces.job_trace import JOB_COLUMNS
from traces.job_trace_file import read_trace

PHILLY = (
    "timestamp,duration,num_gpus,gpu_time,cluster\n"
    "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
    "2017-10-09 06:13:03,2951.5,4,11806.0,6214e9\n"
    "2017-10-09 06:13:09,0.0,1,0.0,6214e9\n"
    "\n"
)
REAL_FILE = Path(__file__).parents[5] / "shared" / "data" / "philly" / "philly.csv"


@pytest.fixture
def philly(tmp_path: Path) -> Path:
    file = tmp_path / "philly.csv"
    file.write_text(PHILLY, encoding="utf-8")
    return file


def test_counts_are_printed_and_everything_travels_in_the_file(
    roundelay: Roundelay, philly: Path
) -> None:
    result = roundelay("trace", "convert", philly, "-o", "jobs.parquet", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["format"] == "philly-csv"
    assert (document["read"], document["jobs"], document["reordered"]) == (3, 2, 1)
    assert document["left_out"] == {"drop-zero-duration": 1}
    assert (document["changed"], document["rules"], document["share"]) == ({}, {}, 1.0)
    assert document["began"] == "2017-10-09T06:13:03"
    assert document["notes"] == ["blank lines left out: 1"]
    assert document["file"] == str(Path("jobs.parquet").resolve())
    written = read_trace(Path("jobs.parquet"))
    assert written.source == document["source"] == read_jobs(philly).source
    assert written.left_out == {"drop-zero-duration": 1}
    assert list(written.jobs["duration_s"]) == [2951.5, 66.0]


def test_a_person_is_told_each_rule_and_what_it_means(roundelay: Roundelay, philly: Path) -> None:
    result = roundelay("trace", "convert", "philly-csv", philly, "-o", "jobs.parquet")
    assert (result.exit_code, result.stdout) == (0, "")
    lines = [line.split() for line in result.stderr.splitlines()]
    assert ["3", "read"] in lines
    assert ["2", "kept"] in lines
    assert "1   left out by drop-zero-duration: it ran for 0 s" in result.stderr
    assert "reordered" in result.stderr
    assert "note: blank lines left out: 1" in result.stderr
    assert "began: 2017-10-09T06:13:03" in result.stderr
    assert "source: philly.csv, SHA-256 " in result.stderr


def test_a_rule_that_is_switched_off_is_said_and_kept(roundelay: Roundelay, philly: Path) -> None:
    philly.write_text(PHILLY.replace(",0.0,", ",7.0,"), encoding="utf-8")
    off = "drop-zero-duration=off"
    result = roundelay("trace", "convert", philly, "-o", "jobs.parquet", "--rule", off)
    assert result.exit_code == 0
    assert f"rule, not as by default: {off}" in result.stderr
    assert read_trace(Path("jobs.parquet")).rules == {"drop-zero-duration": False}
    roundelay("trace", "convert", "jobs.parquet", "-o", "again.parquet")
    assert read_trace(Path("again.parquet")).rules == {"drop-zero-duration": False}


def test_a_job_that_no_rule_drops_is_refused_by_line(roundelay: Roundelay, philly: Path) -> None:
    result = roundelay(
        "trace", "convert", philly, "-o", "jobs.parquet", "--rule", "drop-zero-duration=off"
    )
    assert result.exit_code == 2
    assert f"{philly}:4: duration: " in result.stderr
    assert not Path("jobs.parquet").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--rule", "drop-zero-duration"), "--rule: 'drop-zero-duration' switches nothing"),
        (("--rule", "drop-zero-duration=no"), "--rule: 'drop-zero-duration=no' switches nothing"),
        (("--rule", "drop-all=on"), "--rule: 'drop-all' is no cleaning rule of this format"),
        (("--rule", "drop-zero-duration=on") * 2, "--rule: 'drop-zero-duration' stands twice"),
        (("--share", "0%"), "--share: '0%' is out of range"),
        (("--share", "101%"), "--share: '101%' is out of range"),
        (("--share", "0.5"), "--share: '0.5' is not a percentage"),
        (("--mapping", "m.yaml"), "m.yaml: the format 'philly-csv' has no use"),
    ],
)
def test_an_option_that_cannot_be_is_named(
    roundelay: Roundelay, philly: Path, words: tuple[str, ...], said: str
) -> None:
    result = roundelay("trace", "convert", "philly-csv", philly, "-o", "jobs.parquet", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"roundelay: {said}")
    assert "; allowed: " in result.stderr
    assert not Path("jobs.parquet").exists()


def test_nothing_is_overwritten(roundelay: Roundelay, philly: Path) -> None:
    Path("jobs.parquet").write_text("mine", encoding="utf-8")
    result = roundelay("trace", "convert", philly, "-o", "jobs.parquet")
    assert result.exit_code == 2
    assert "is there already" in result.stderr
    assert Path("jobs.parquet").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("place", ["absent/jobs.parquet", "."])
def test_a_place_that_cannot_be_written_is_refused(
    roundelay: Roundelay, philly: Path, place: str
) -> None:
    result = roundelay("trace", "convert", philly, "-o", place)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("words", [(), ("a", "b", "c")])
def test_there_is_one_file_and_at_most_one_format(
    roundelay: Roundelay, words: tuple[str, ...]
) -> None:
    result = roundelay("trace", "convert", *words, "-o", "jobs.parquet")
    assert result.exit_code == 2
    assert "Usage: roundelay trace convert" in result.stderr


def test_an_unknown_format_is_refused_with_the_known_ones(
    roundelay: Roundelay, philly: Path
) -> None:
    result = roundelay("trace", "convert", "phily", philly, "-o", "jobs.parquet")
    assert result.exit_code == 2
    assert "'phily' is no format of traces" in result.stderr
    assert "philly-csv" in result.stderr


def test_a_share_is_read_and_said(roundelay: Roundelay, philly: Path) -> None:
    result = roundelay("trace", "convert", philly, "-o", "jobs.parquet", "--share", "60%")
    assert result.exit_code == 0
    assert "share of the file: 60" in result.stderr
    assert read_trace(Path("jobs.parquet")).share == 0.6


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_file_belongs_to_who_called_sudo(
    roundelay: Roundelay, philly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_UID", "12345")
    monkeypatch.setenv("SUDO_GID", "12346")
    roundelay("trace", "convert", philly, "-o", "jobs.parquet")
    found = Path("jobs.parquet").stat()
    assert (found.st_uid, found.st_gid) == (12345, 12346)


def test_every_format_is_shown_with_its_rules(roundelay: Roundelay) -> None:
    document = json.loads(roundelay("trace", "formats", "--json").stdout)
    assert [each["format"] for each in document] == list(TRACE_FORMATS)
    shown = roundelay("trace", "formats").stderr
    for each in TRACE_FORMATS.values():
        assert each.name in shown
        for rule in each.rules:
            assert rule.name in shown
    philly = next(each for each in document if each["format"] == "philly-csv")
    assert [rule["rule"] for rule in philly["rules"]] == ["drop-zero-duration"]
    assert philly["rules"][0]["by_default"] is True


def test_every_column_is_shown_with_its_unit(roundelay: Roundelay) -> None:
    document = json.loads(roundelay("trace", "columns", "--json").stdout)
    assert [each["column"] for each in document] == list(JOB_COLUMNS)
    assert {"column": "num_gpus", "dtype": "int64", "unit": "GPUs"}.items() <= document[3].items()
    shown = roundelay("trace", "columns").stderr
    assert all(name in shown for name in JOB_COLUMNS)


@pytest.mark.data
def test_the_real_philly_trace_is_converted(roundelay: Roundelay) -> None:
    if not REAL_FILE.exists():
        pytest.skip("the real traces are not beside this checkout")
    result = roundelay("trace", "convert", REAL_FILE, "-o", "jobs.parquet", "--json")
    document = json.loads(result.stdout)
    assert document["read"] == document["jobs"] == 82_247
    part = json.loads(
        roundelay("trace", "describe", "jobs.parquet", "--share", "1%", "--json").stdout
    )
    assert part["traces"][0]["jobs"] == 823


def test_the_example_of_a_mapping_is_one(roundelay: Roundelay) -> None:
    result = roundelay("trace", "mapping")
    assert result.exit_code == 0
    document = json.loads(roundelay("trace", "mapping", "--json").stdout)
    assert yaml.safe_load(result.stdout) == document
    Path("mapping.yaml").write_text(result.stdout, encoding="utf-8")
    read_mapping(Path("mapping.yaml"))


def test_a_mapping_makes_a_plain_csv_a_trace(roundelay: Roundelay) -> None:
    Path("jobs.csv").write_text("name,cards,when,minutes\na,2,0,5\nb,1,60,1\n", encoding="utf-8")
    Path("mapping.yaml").write_text(
        "columns:\n"
        "  job: name\n"
        "  num_gpus: cards\n"
        "  submit_s: {column: when, unit: s}\n"
        "  duration_s: {column: minutes, unit: min}\n",
        encoding="utf-8",
    )
    result = roundelay(
        *("trace", "convert", "jobs.csv", "-o", "jobs.parquet", "--mapping", "mapping.yaml")
    )
    assert result.exit_code == 0, result.stderr
    written = read_trace(Path("jobs.parquet"))
    assert written.format == "csv"
    assert written.jobs["duration_s"].tolist() == [300.0, 60.0]
    assert any("mapping.yaml" in note for note in written.notes)
