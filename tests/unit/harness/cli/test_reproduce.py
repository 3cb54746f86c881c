"""reproduce: what is printed, written, kept and refused."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cli import reproduce
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    QuickForm,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.experiments.reproduce.recipes import RECIPES
from tests.unit.harness.cli.conftest import Roundelay
from tests.unit.harness.cli.said import one_line
from traces.errors import BadInputError
from traces.run_directory import read_json

REACHED = ReproducedFigure(
    "mean JCT, [tune]", "h", 21.9, (20.0, 24.0), 22.0, "a paper", 0.05, "a short reason"
)
MISSED = ReproducedFigure(
    "p99 of JCT", "h", 300.0, expected=157.0, source="a paper", tolerance=0.01, note="it is late"
)
ALONE = ReproducedFigure("mean JCT, balanced", "h", 19.9)
ABSENT = ReproducedFigure(
    "on the paper's trace", "h", None, expected=22.0, tolerance=0.1, note="not made: no trace"
)
FIGURES = (REACHED, MISSED, ALONE, ABSENT)
KEYS = {
    "name", "ours", "interval", "expected", "source", "tolerance", "ok", "note", "unit", "compare",
}  # fmt: skip
DRAWING = Drawing("loads", "Loads", "jobs/h", "h", (Curve("tune", (8.0, 9.0), (1.0, 2.0)),), "Up.")


class Calls(list[tuple[str, Path, int | None]]):
    """What recipes were run with."""


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Three tiny recipes take the place of the real ones.

    The last of them has a drawing, and a quick form that makes a single figure.
    """
    calls = Calls()

    def recipe(name: str, *, needs_data: bool = False) -> Recipe:
        def run(data: Path, seeds: int | None, say: Say) -> Reproduction:
            calls.append((name, data, seeds))
            say("half of it")
            if needs_data and not (data / "jobs.csv").is_file():
                raise BadInputError(
                    f"there is no file {data / 'jobs.csv'}", allowed="a trace", key="--data"
                )
            # To draw takes longer than all else here, and once is enough.
            return Reproduction(FIGURES, (DRAWING,) if name == "drawn" else ())

        return Recipe(name, f"The {name} [one]", "a paper", 100.0, needs_data, run)

    def run_quickly(data: Path, seeds: int | None, say: Say) -> Reproduction:
        calls.append(("drawn, quick", data, seeds))
        return Reproduction((REACHED,))

    recipes = [recipe("first"), recipe("traced", needs_data=True), recipe("drawn")]
    recipes[-1] = dataclasses.replace(recipes[-1], quick=QuickForm(7.0, run_quickly, "one figure"))
    monkeypatch.setattr(reproduce, "RECIPES", {each.id: each for each in recipes})
    return calls


def replace(monkeypatch: pytest.MonkeyPatch, name: str, run: Callable[..., Reproduction]) -> None:
    """Let recipe ``name`` do something else."""
    recipes = dict(reproduce.RECIPES)
    recipes[name] = Recipe(name, name, "", 1.0, False, run)
    monkeypatch.setattr(reproduce, "RECIPES", recipes)


def test_the_list_says_what_each_takes(roundelay: Roundelay, calls: Calls) -> None:
    result = roundelay("reproduce", "--list")
    assert (result.exit_code, result.stdout) == (0, "")
    for words in ("first", "The first [one]", "2 min", "needed"):
        assert words in result.stderr
    described = json.loads(roundelay("reproduce", "--list", "--json").stdout)
    assert described[1] == {
        "id": "traced", "title": "The traced [one]", "source": "a paper", "seconds": 100.0,
        "needs_data": True, "quick_seconds": None,
    }  # fmt: skip
    assert described[2]["quick_seconds"] == 7.0
    assert "7 s" in result.stderr
    assert not calls


def test_the_real_list_has_every_recipe(roundelay: Roundelay) -> None:
    listed = roundelay("reproduce", "--list").stderr
    for recipe in RECIPES.values():
        assert recipe.id in listed


def test_one_recipe_is_a_table_a_document_and_a_directory(
    roundelay: Roundelay, calls: Calls, tmp_path: Path
) -> None:
    result = roundelay("reproduce", "drawn", "--seeds", 3, "-o", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.stderr
    assert calls == [("drawn", Path("data"), 3)]
    document = json.loads(result.stdout)
    assert set(document) == {"id", "figures"}
    assert document["id"] == "drawn"
    assert [figure["ok"] for figure in document["figures"]] == [True, False, None, False]
    assert all(set(figure) == KEYS for figure in document["figures"])
    assert document["figures"][0]["interval"] == [20.0, 24.0]
    written = read_json(tmp_path / "out" / "figures.json")
    assert written["figures"] == document["figures"]
    assert {each.name for each in (tmp_path / "out").iterdir()} == {
        "figures.json", "provenance.json", "loads.png", "loads.svg",
    }  # fmt: skip


def test_the_quick_form_is_made_instead_and_says_what_it_lacks(
    roundelay: Roundelay, calls: Calls, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = roundelay("reproduce", "drawn", "--quick", "--seeds", 2, "-o", out, "--json")
    assert result.exit_code == 0, result.stderr
    assert calls == [("drawn, quick", Path("data"), 2)]
    assert len(json.loads(result.stdout)["figures"]) == 1
    assert "about 7 s" in result.stderr
    assert read_json(out / "provenance.json")["title"] == "The drawn [one]; quick: one figure"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("first",), "first has no shorter form"),
        (("--all",), "only one experiment is made quickly"),
        (("--list",), "only one experiment is made quickly"),
    ],
)
def test_what_has_no_quick_form_is_refused(
    roundelay: Roundelay, calls: Calls, arguments: tuple[str, ...], problem: str
) -> None:
    said = one_line(roundelay("reproduce", *arguments, "--quick"), exit_code=2)
    assert said == f"roundelay: --quick: {problem}; allowed: drawn"
    assert not calls
    assert not Path("reproduced").exists()


def test_a_figure_that_is_not_reached_stays_in_the_table_with_its_note(
    roundelay: Roundelay, calls: Calls
) -> None:
    result = roundelay("reproduce", "first")
    assert (result.exit_code, result.stdout) == (0, "")
    rows = {figure.name: row(result.stderr, figure.name) for figure in FIGURES}
    assert rows[REACHED.name][-8:] == ["20", "-", "24", "22", "5", "%", "yes", "1"]
    assert rows[MISSED.name][-6:] == ["300", "157", "1", "%", "no", "2"]
    assert rows[ALONE.name][-3:] == ["19.9", "-", "-"]
    assert rows[ABSENT.name][-6:] == ["-", "22", "10", "%", "no", "3"]
    assert " 2  it is late" in result.stderr
    assert "published: a paper" in result.stderr


def row(text: str, start: str) -> list[str]:
    """The words of the table's row that begins with ``start``."""
    (found,) = [line for line in text.splitlines() if line.strip().startswith(start)]
    return found.split()


def test_the_default_directory_has_the_id_and_the_time(roundelay: Roundelay, calls: Calls) -> None:
    roundelay("reproduce", "first")
    (made,) = Path("reproduced").iterdir()
    assert made.name.startswith("first-20")
    assert str(made.resolve()) == str(Path.cwd() / made)


@pytest.mark.parametrize("arguments", [(), ("first", "--all"), ("--list", "--all")])
def test_it_must_be_said_once_what_to_reproduce(
    roundelay: Roundelay, calls: Calls, arguments: tuple[str, ...]
) -> None:
    said = one_line(roundelay("reproduce", *arguments), exit_code=2)
    assert "first, traced, drawn" in said
    assert not calls


def test_an_unknown_id_is_one_line_with_the_known_ones(roundelay: Roundelay, calls: Calls) -> None:
    said = one_line(roundelay("reproduce", "synergy-lod"), exit_code=2)
    assert said == (
        "roundelay: ID: there is no experiment 'synergy-lod'; allowed: first, traced, drawn"
    )


def test_a_missing_directory_of_data_is_one_line(
    roundelay: Roundelay, calls: Calls, tmp_path: Path
) -> None:
    result = roundelay("reproduce", "traced", "--data", tmp_path / "absent")
    assert result.exit_code == 2
    said = result.stderr.splitlines()[-1]
    assert said.startswith(f"roundelay: --data: there is no directory {tmp_path / 'absent'}")
    assert "synergy/oracle" in said
    assert "philly/philly.csv" in said
    assert not calls
    assert not Path("reproduced").exists()  # nothing came of it


def test_a_missing_file_of_the_data_is_one_line(
    roundelay: Roundelay, calls: Calls, tmp_path: Path
) -> None:
    result = roundelay("reproduce", "traced", "--data", tmp_path, "-o", tmp_path / "out" / "new")
    assert result.exit_code == 2
    assert f"there is no file {tmp_path / 'jobs.csv'}" in result.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_the_real_recipes_say_which_file_they_lack(roundelay: Roundelay, tmp_path: Path) -> None:
    for recipe_id, file in (
        ("synergy-oracle", "synergy/oracle/summary.csv"),
        ("synergy-philly", "philly/philly.csv"),
    ):
        result = roundelay("reproduce", recipe_id, "--data", tmp_path)
        assert result.exit_code == 2
        assert f"there is no file {tmp_path / file}" in result.stderr.splitlines()[-1]


def test_results_never_go_where_something_is(
    roundelay: Roundelay, calls: Calls, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "figures.json").touch()
    assert "not empty" in one_line(roundelay("reproduce", "first", "-o", tmp_path / "out"), 2)
    assert not calls


def test_seeds_are_one_or_more(roundelay: Roundelay, calls: Calls) -> None:
    assert roundelay("reproduce", "first", "--seeds", 0).exit_code == 2
    assert not calls


def test_all_is_resumed_where_it_was(roundelay: Roundelay, calls: Calls, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = roundelay("reproduce", "--all", "--data", tmp_path, "-o", out, "--json")
    assert first.exit_code == 2  # one lacks its file, which does not stop the others
    assert "traced: --data: there is no file" in first.stderr
    assert [each["id"] for each in json.loads(first.stdout)] == ["first", "drawn"]
    assert {each.name for each in out.iterdir()} == {"first", "drawn"}
    calls.clear()
    (tmp_path / "jobs.csv").touch()
    second = roundelay("reproduce", "--all", "--data", tmp_path, "-o", out, "--json")
    assert second.exit_code == 0
    assert [name for name, _, _ in calls] == ["traced"]
    assert "first: finished before" in second.stderr
    documents = json.loads(second.stdout)
    assert [each["id"] for each in documents] == ["first", "traced", "drawn"]
    assert documents[0] == json.loads(first.stdout)[0]


def test_ctrl_c_keeps_the_figures_that_were_made(
    roundelay: Roundelay, calls: Calls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Reproduction((REACHED,), interrupted=True)
    replace(monkeypatch, "traced", lambda *_: part)
    result = roundelay("reproduce", "traced", "-o", tmp_path / "one", "--json")
    assert result.exit_code == 130
    assert len(json.loads(result.stdout)["figures"]) == 1
    assert read_json(tmp_path / "one" / "figures.json")["interrupted"]

    out = tmp_path / "all"
    result = roundelay("reproduce", "--all", "-o", out, "--json")
    assert result.exit_code == 130
    assert [len(each["figures"]) for each in json.loads(result.stdout)] == [4, 1]
    assert not (out / "drawn").exists()
    replace(monkeypatch, "traced", lambda *_: Reproduction(FIGURES))
    again = roundelay("reproduce", "--all", "-o", out, "--json")
    assert again.exit_code == 0
    assert [len(each["figures"]) for each in json.loads(again.stdout)] == [4, 4, 4]
    assert not read_json(out / "traced" / "figures.json")["interrupted"]


@pytest.fixture
def interrupts_as_at_a_terminal() -> Iterator[None]:
    """A shell starts its background jobs with Ctrl-C ignored, and tests may be one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_as_at_a_terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_recipe_that_does_not_care_about_signals_ends_by_them(
    roundelay: Roundelay,
    calls: Calls,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
) -> None:
    def run(*_: Any) -> Reproduction:
        os.kill(os.getpid(), number)
        raise AssertionError("goes on after the signal")

    replace(monkeypatch, "traced", run)
    before = signal.getsignal(number)
    result = roundelay("reproduce", "traced", "-o", tmp_path / "one")
    assert result.exit_code == 130
    assert "stopped" in result.stderr
    assert not (tmp_path / "one").exists()
    result = roundelay("reproduce", "--all", "-o", tmp_path / "all")
    assert result.exit_code == 130
    assert {each.name for each in (tmp_path / "all").iterdir()} == {"first"}
    assert signal.getsignal(number) is before
