"""demand compat and demand show: how jobs fit on one link, and what one of them puts there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.builders import TOY_ALONE_S, TOY_TRANSFER_S, make_profile
from tests.unit.harness.cli.conftest import Roundelay
from traces.demand import Demand
from traces.model_profile import write_profile


def test_two_jobs_get_shifts_and_scores(roundelay: Roundelay, tmp_path: Path) -> None:
    profile = tmp_path / "toy.json"
    write_profile(make_profile(), profile)
    result = roundelay("demand", "compat", profile, profile, "--link", "1 Gbit/s", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 0
    assert document["link_bps"] == 1e9
    assert document["score"] == pytest.approx(1.0)
    assert document["score_unshifted"] == pytest.approx(
        1 - TOY_TRANSFER_S / TOY_ALONE_S, abs=1 / 72
    )
    assert document["perimeter_s"] == pytest.approx(TOY_ALONE_S)
    above = document["above_capacity_unshifted"], document["above_capacity"]
    assert above == pytest.approx((0.5, 0), abs=0.02)
    shifts = [job["time_shift_s"] for job in document["jobs"]]
    assert shifts == pytest.approx([0.0, TOY_ALONE_S / 2])


def test_a_known_model_needs_no_file(roundelay: Roundelay) -> None:
    result = roundelay("demand", "compat", "vgg19", "vgg19", "--link", "50Gbit/s")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "score 1.000 with the time-shifts" in result.stderr


def test_a_known_model_has_as_many_workers_as_it_takes(roundelay: Roundelay) -> None:
    result = roundelay("demand", "compat", "gpt3", "dlrm", "--link", "50Gbit/s", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert [job["model"] for job in document["jobs"]] == ["gpt3", "dlrm"]


def test_many_jobs_are_rotated_by_descent_and_it_is_said(roundelay: Roundelay) -> None:
    result = roundelay("demand", "compat", *["vgg19"] * 5, "--link", "50Gbit/s", "--json")
    document = json.loads(result.stdout)
    assert (len(document["jobs"]), document["exact"]) == (5, False)
    assert document["score"] > document["score_unshifted"]
    assert "there may be a better rotation" in result.stderr


def test_jobs_that_cannot_be_compared_are_bad_input(roundelay: Roundelay, tmp_path: Path) -> None:
    files = [tmp_path / "short.json", tmp_path / "long.json"]
    for file, length_s in zip(files, (31.0, 40.0), strict=True):
        write_profile(make_profile(Demand(length_s, ())), file)
    result = roundelay("demand", "compat", *files, "--link", "1Gbit/s")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "the iteration times 31 s, 40 s do not meet within 60 s" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("vgg19", "--link", "50 Gbs"), "--link: '50 Gbs'"),
        (("vgg19", "--link", "0 Gbit/s"), "out of range"),
        (("vgg20", "--link", "50 Gbit/s"), "there is no profile 'vgg20'"),
    ],
)
def test_bad_input_is_one_line(roundelay: Roundelay, arguments: tuple[str, ...], said: str) -> None:
    result = roundelay("demand", "compat", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert "; allowed: " in result.stderr


VERBS = (("show", "vgg19"), ("compat", "vgg19", "vgg16", "--link", "50Gbit/s"))


def test_an_iteration_is_drawn_in_the_terminal(roundelay: Roundelay, tmp_path: Path) -> None:
    profile = tmp_path / "toy.json"
    write_profile(make_profile(), profile)
    result = roundelay("demand", "show", profile, "--link", "1 Gbit/s", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["iteration_s"] == pytest.approx(TOY_ALONE_S)
    (phase,) = document["phases"]
    assert phase["end_s"] - phase["start_s"] == pytest.approx(TOY_TRANSFER_S)
    assert (phase["rate_bps"], document["file"]) == (1e9, None)
    assert document["transfers"][0]["sent_by_first_worker"] is True
    computes, sends = (
        next(line for line in result.stderr.splitlines() if line.strip().startswith(word))
        for word in ("computes", "sends")
    )
    cells = computes.index("█")
    share = computes.count("█") / (len(computes) - cells)
    assert share == pytest.approx((TOY_ALONE_S - TOY_TRANSFER_S) / TOY_ALONE_S, abs=0.02)
    assert sends.index("█") >= computes.rindex("█")
    assert "which stands still for 40.00 ms" in result.stderr


def test_the_load_of_a_link_is_drawn_in_the_terminal(roundelay: Roundelay) -> None:
    result = roundelay("demand", "compat", "vgg19", "vgg19", "--link", "50Gbit/s")
    lines = result.stderr.splitlines()
    too_much = [line for line in lines if line.strip().startswith("too much")]
    assert [line.count("×") > 0 for line in too_much] == [True, False]
    assert any("at once" in line and "with the time-shifts" in line for line in lines)
    assert all(len(line) <= 100 for line in lines if "█" in line)


@pytest.mark.parametrize("verb", VERBS, ids=["show", "compat"])
@pytest.mark.parametrize(("name", "begins"), [("d.png", b"\x89PNG"), ("d.svg", b"<?xml")])
def test_drawings_are_files_of_the_kind_that_their_name_says(
    roundelay: Roundelay, tmp_path: Path, verb: tuple[str, ...], name: str, begins: bytes
) -> None:
    file = tmp_path / name
    result = roundelay("demand", *verb, "-o", file, "--json")
    assert result.exit_code == 0, result.stderr
    assert file.read_bytes().startswith(begins)
    document = json.loads(result.stdout)
    assert document["file"] == str(file)
    assert f"drawing: {file}" in result.stderr
    assert "█" not in result.stderr
    if name.endswith("svg"):
        first = document["words"].split()[0]
        assert first in file.read_text()


def test_names_of_models_are_no_formulas(roundelay: Roundelay, tmp_path: Path) -> None:
    profile, file = tmp_path / "toy.json", tmp_path / "toy.svg"
    write_profile(make_profile().model_copy(update={"model": "a $\\frac$ [b]"}), profile)
    for verb in (("show", profile), ("compat", profile, profile, "--link", "1Gbit/s")):
        result = roundelay("demand", *verb, "-o", file)
        assert result.exit_code == 0, result.stderr
        assert "a $\\frac$ [b]" in file.read_text()
        assert "a $\\frac$ [b]" in result.stderr


@pytest.mark.parametrize(
    ("verb", "name", "said"),
    [
        (VERBS[0], "drawing.pdf", "does not say what it is"),
        (VERBS[1], "drawing", "does not say what it is"),
        (VERBS[0], "none/drawing.png", "cannot be written"),
    ],
)
def test_a_place_that_cannot_be_drawn_into_is_bad_input(
    roundelay: Roundelay, verb: tuple[str, ...], name: str, said: str
) -> None:
    result = roundelay("demand", *verb, "-o", name, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
