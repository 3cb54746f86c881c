"""profile sensitivity and profile stalls: options, results, and what goes wrong."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from harness.cli import profile_sensitivity, profile_stalls
from harness.cli.profile_options import parse_cpus, parse_shares
from profiler.measuring import sensitivity, stalls
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.profiler.measuring.stand_in import NO_LIMITS, stand_in
from traces.errors import BadInputError

TINY = ("--model", "resnet18", "--tiny", "--device", "cpu")


@pytest.fixture(autouse=True)
def unprivileged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitivity, "limits_for_training", lambda: NO_LIMITS)
    monkeypatch.setattr(stalls, "limits_for_training", lambda: NO_LIMITS)
    for verb in (profile_sensitivity, profile_stalls):
        monkeypatch.setattr(verb, "usable_cpus", lambda: 2.0)


def test_ranges_of_cpus() -> None:
    assert parse_cpus("1..4", 8) == (1, 2, 3, 4)
    assert parse_cpus("1..2/0.25", 2) == (1, 1.25, 1.5, 1.75, 2)
    assert parse_cpus("1..24/5", 24) == (1, 6, 11, 16, 21, 24)
    assert parse_cpus("0.1..0.3/0.1", 2) == (0.1, 0.2, 0.3)
    assert parse_cpus("2", 2) == (2,)
    assert parse_cpus(None, 3.5) == (1, 2, 3)
    assert parse_cpus(None, 0.5) == (0.5,)


@pytest.mark.parametrize("text", ["", "a", "2..1", "0..1", "1..9", "1..2/0", "1..2/0.001", "-1..2"])
def test_ranges_that_are_none(text: str) -> None:
    with pytest.raises(BadInputError, match=r"--cpus: .*; allowed: "):
        parse_cpus(text, 8)


def test_shares_of_the_dataset() -> None:
    assert parse_shares("0%, 50%,100%") == (0, 0.5, 1)
    assert parse_shares("12.5%") == (0.125,)
    assert parse_shares(None) is None


@pytest.mark.parametrize("text", ["", "50", "50%,50%", "50%,20%", "101%", "0%", "-1%"])
def test_shares_that_are_none(text: str) -> None:
    with pytest.raises(BadInputError, match=r"--memory: .*; allowed: "):
        parse_shares(text)


@pytest.mark.parametrize("verb", ["sensitivity", "stalls"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--model: there is nothing to train"),
        (("--model", "resnet19"), "there is no built-in model 'resnet19'; allowed: alexnet"),
        ((*TINY, "--cpus", "0"), "--cpus: '0' is out of range"),
        ((*TINY, "--budget", "5"), "--budget: '5' is not a number with a unit"),
        ((*TINY, "--timeout", "0 s"), "--timeout: '0 s' is out of range"),
        ((*TINY, "--data", "none"), "none: no such directory"),
        (("--model", "bert", "--data", "."), "--data: bert is no image model"),
        (("--tiny", "--", "train"), "--tiny: is for built-in models, and a command is given"),
        (("--model", "../x", "--", "train"), "--model: '../x' is no name"),
        (("--", "no-such-command"), "no-such-command cannot be run"),
    ],
)
def test_bad_input_is_one_line(
    roundelay: Roundelay, verb: str, arguments: tuple[str, ...], said: str
) -> None:
    result = roundelay("profile", verb, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert "; allowed: " in result.stderr


def test_a_dataset_smaller_than_a_batch_is_refused(roundelay: Roundelay, tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    for number in range(3):
        (images / f"{number}.jpg").write_bytes(b"\xff\xd8\xff" + bytes(100) + b"\xff\xd9")
    (images / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    result = roundelay("profile", "sensitivity", *TINY, "--data", images)
    assert result.exit_code == 2
    assert "3 items do not fill a batch of 16" in result.stderr
    refused = roundelay("profile", "stalls", *TINY, "--data", images, "--on-broken", "refuse")
    assert refused.exit_code == 2
    assert "broken.jpg: " in refused.stderr


def test_a_directory_with_other_things_in_it_is_refused(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    (tmp_path / "thesis.tex").write_text("")
    result = roundelay("profile", "sensitivity", *TINY, "-o", tmp_path)
    assert (result.exit_code, "the directory is not empty" in result.stderr) == (2, True)


def test_without_torch_the_remedy_is_said(
    roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else find(name)
    )
    result = roundelay("profile", "sensitivity", *TINY)
    assert result.exit_code == 3
    assert "torch, which is not installed; pip install 'roundelay[real]'" in result.stderr


def test_a_script_that_never_iterates_or_exits_early(roundelay: Roundelay, tmp_path: Path) -> None:
    silent = stand_in(tmp_path, silent_s=60)
    result = roundelay("profile", "sensitivity", "--timeout", "0.5 s", "--", silent)
    assert result.exit_code == 2
    assert "showed no iteration for 0.5 s" in result.stderr
    early = stand_in(tmp_path, exit=4)
    result = roundelay("profile", "stalls", "--", early)
    assert result.exit_code == 2
    assert "ended with status 4: begun" in result.stderr


def test_a_sensitivity_is_measured_printed_and_written(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    command = stand_in(tmp_path)
    arguments = (
        "profile", "sensitivity", "--model", "mine", "--cpus", "0.5..2/0.5",
        "--memory", "0%,50%,100%", "--check", 2, "-o", tmp_path / "out", "--json", "--", command,
    )  # fmt: skip
    result = roundelay(*arguments)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["curve"]["ideal_cpus"] == 2
    assert document["check"]["points"] == 2
    assert document["drift"]["verdict"] == "steady"
    assert document["interrupted"] is False
    assert {
        "profile.json", "points.parquet", "iterations.parquet", "report.html", "training.log",
    } <= {file.name for file in (tmp_path / "out").iterdir()}  # fmt: skip
    for words in ("Over CPUs", "ideal demand", "ine wants", "he machine was steady",
                  "not enforced: 0.5 CPUs were rounded up", "point 1 of up to"):  # fmt: skip
        assert words in result.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    for words in ("Sensitivity of mine", "Speed over CPUs and memory", "What took effect"):
        assert words in page
    again = roundelay(*arguments)
    assert again.exit_code == 0
    assert json.loads(again.stdout)["points"] == document["points"]


def test_stalls_are_measured_printed_and_written(roundelay: Roundelay, tmp_path: Path) -> None:
    command = stand_in(tmp_path, storage_bytes_per_s=2.5e5)
    result = roundelay(
        "profile", "stalls", "--cpus", "1", "-o", tmp_path / "out", "--json", "--", command
    )
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["limit"] == "fetch"
    assert document["rates"]["storage"] == pytest.approx(250, rel=0.02)
    assert json.loads((tmp_path / "out" / "stalls.json").read_text()).items() <= document.items()
    assert "train is limited by fetching" in result.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Stalls of train" in page
