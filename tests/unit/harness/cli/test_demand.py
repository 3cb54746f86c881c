"""demand compat: how jobs fit on one link."""

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
