"""One directory, one sweep: whole files, nothing lost, nothing mixed, one writer."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from harness.experiments.sweep.dataset import open_sweep
from harness.experiments.sweep.plan import SweepPlan
from harness.experiments.sweep.work import Failure, Outcome, Point
from traces.errors import BadInputError
from traces.run_directory import read_json

DEFINITION = {
    "scenario": "toy",
    "results": "simulated",
    "version": "1",
    "keys": {"a": "number"},
    "scenario_sha256": "0" * 64,
}


def point(number: int) -> Point:
    where = Path("scenario.yaml")
    return Point(f"{number:016x}", {"a": number}, {"a": "number"}, 1, where, {}, False)


def plan(**changes: Any) -> SweepPlan:
    points = tuple(point(number) for number in range(3))
    return SweepPlan("toy", True, points, (), {**DEFINITION, **changes})


def done(number: int) -> Outcome:
    stream = io.BytesIO()
    pd.DataFrame({"point": [point(number).id], "a": [float(number)]}).to_parquet(stream)
    return Outcome(point(number), table=stream.getvalue())


def failed(number: int) -> Outcome:
    return Outcome(point(number), failure=Failure("it broke", "Traceback\nit broke"))


def test_points_are_kept_and_found_by_the_next_call(tmp_path: Path) -> None:
    place = tmp_path / "new" / "sweep"
    with open_sweep(place, plan(), "name: toy") as sweep:
        assert sweep.finished() == set()
        sweep.keep(done(0))
        sweep.keep(done(2))
    with open_sweep(place, plan(), "name: toy") as sweep:
        assert sweep.finished() == {point(0).id, point(2).id}
        assert sweep.read([point(2).id], ["a"]) == [{"a": 2.0}]
        assert sweep.read([], ["a"]) == []
    assert pd.read_parquet(place / "points")["a"].sort_values().tolist() == [0.0, 2.0]
    assert read_json(place / "sweep.json") == DEFINITION
    assert (place / "scenario.yaml").read_text() == "name: toy"


def test_a_failure_is_a_file_until_the_point_is_done(tmp_path: Path) -> None:
    with open_sweep(tmp_path, plan(), "") as sweep:
        sweep.keep(failed(1))
        assert sweep.finished() == set()
        text = (tmp_path / "failed" / f"{point(1).id}.txt").read_text()
        assert text == "it broke\n\na: 1\nseed: 1\n\nTraceback\nit broke\n"
        sweep.keep(done(1))
        assert sweep.finished() == {point(1).id}
    assert list((tmp_path / "failed").iterdir()) == []


def test_what_was_stopped_leaves_nothing(tmp_path: Path) -> None:
    with open_sweep(tmp_path, plan(), "") as sweep:
        sweep.keep(Outcome(point(1)))
        assert sweep.finished() == set()
    assert not (tmp_path / "failed").exists()


def test_a_file_that_a_killed_call_was_writing_is_no_point(tmp_path: Path) -> None:
    with open_sweep(tmp_path, plan(), "") as sweep:
        sweep.keep(done(0))
    unfinished = tmp_path / "points" / f".{point(1).id}.parquet"
    unfinished.write_bytes(b"PAR1")
    assert len(pd.read_parquet(tmp_path / "points")) == 1
    with open_sweep(tmp_path, plan(), "") as sweep:
        assert sweep.finished() == {point(0).id}
    assert not unfinished.exists()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"scenario": "other"}, "of another scenario"),
        ({"results": "emulated"}, "of the other kind"),
        ({"version": "2"}, "of another version"),
        ({"keys": {"b": "number"}}, "over other keys"),
        ({"keys": {"a": "text"}}, "of values of another type"),
        ({"scenario_sha256": "1" * 64}, "before a change"),
    ],
)
def test_another_sweep_is_not_mixed_in(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    with open_sweep(tmp_path, plan(), ""):
        pass
    with pytest.raises(BadInputError, match=problem), open_sweep(tmp_path, plan(**changes), ""):
        pass
    more = replace(plan(), points=(point(7),))
    with open_sweep(tmp_path, more, "") as sweep:
        sweep.keep(done(7))


def test_a_directory_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").touch()
    with pytest.raises(BadInputError, match="not empty"), open_sweep(tmp_path, plan(), ""):
        pass


def test_one_call_at_a_time(tmp_path: Path) -> None:
    with (
        open_sweep(tmp_path, plan(), ""),
        pytest.raises(BadInputError, match="another sweep writes"),
        open_sweep(tmp_path, plan(), ""),
    ):
        pass
    with open_sweep(tmp_path, plan(), ""):
        pass


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    with open_sweep(tmp_path, plan(), "") as sweep:
        sweep.keep(Outcome(point(0), table=b"PAR1 and no more"))
        with pytest.raises(BadInputError, match="cannot be read"):
            sweep.read([point(0).id], ["a"])
