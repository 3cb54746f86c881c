"""What a person sees of published experiments and their figures."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.padding import Padding

from harness.cli.show import console, plain_table
from harness.experiments.reproduce.recipe import Recipe

_OK = {True: "[green]yes[/]", False: "[yellow]no[/]", None: "-"}


def print_recipes(recipes: Iterable[Recipe]) -> None:
    """One row an experiment."""
    table = plain_table("published experiments")
    table.add_column("id", no_wrap=True)
    table.add_column("title")
    table.add_column("time on\ntwo cores", justify="right", no_wrap=True)
    table.add_column("with\n--quick", justify="right", no_wrap=True)
    table.add_column("data", no_wrap=True)
    for recipe in recipes:
        table.add_row(
            recipe.id,
            escape(recipe.title),
            duration(recipe.seconds),
            duration(recipe.quick.seconds) if recipe.quick else "-",
            "needed" if recipe.needs_data else "-",
        )
    console.print(table)


def duration(seconds: float) -> str:
    """A time as a person plans with it."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def print_figures(recipe: Recipe, document: dict[str, Any], directory: Path) -> None:
    """One row a figure; the notes, each once, below."""
    table = plain_table(f"{recipe.id}: ours and the published figures")
    table.add_column("figure")
    table.add_column("unit", no_wrap=True)
    for heading in ("ours", "95 %", "published", "within"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("ok", no_wrap=True)
    table.add_column("note", justify="right", no_wrap=True)
    notes: dict[str, int] = {}
    for figure in document["figures"]:
        note = figure["note"]
        if note:
            notes.setdefault(note, len(notes) + 1)
        table.add_row(
            escape(figure["name"]),
            escape(figure["unit"]),
            _number(figure["ours"]),
            _interval(figure["interval"]),
            _expected(figure),
            _tolerance(figure),
            _OK[figure["ok"]],
            str(notes[note]) if note else "",
        )
    console.print(table)
    for note, place in notes.items():
        console.print(Padding(f"{place:>2}  {escape(note)}", (0, 0, 0, 1)))
    for source in dict.fromkeys(figure["source"] for figure in document["figures"]):
        if source:
            console.print(Padding(f"published: {escape(source)}", (0, 0, 0, 1)))
    console.print(f"results: {directory.resolve()}", soft_wrap=True, markup=False)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    digits = 4 if abs(value) < 10_000 else max(4, len(f"{abs(value):.0f}"))
    return f"{value:.{digits}g}"


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{_number(interval[0])} - {_number(interval[1])}"


def _expected(figure: dict[str, Any]) -> str:
    bound = {"near": "", "at most": "<= ", "at least": ">= "}[figure["compare"]]
    return "-" if figure["expected"] is None else bound + _number(figure["expected"])


def _tolerance(figure: dict[str, Any]) -> str:
    tolerance = figure["tolerance"]
    return "" if tolerance is None else f"{100 * tolerance:.3g} %"
