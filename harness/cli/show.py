"""What a person sees: tables and progress on standard error, JSON on standard output."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from emulator.emulate import Progress as ProgressCallback
from harness.cli.options import INTERRUPTED, is_quiet
from harness.report.words import clipped_words, quantity

console = Console(stderr=True, highlight=False)
if not console.is_terminal:
    console.width = 120  # a log has no edge to wrap at


def print_json(document: Any) -> None:
    """One JSON document on standard output."""
    click.echo(json.dumps(document, indent=2, allow_nan=False))


def print_warnings(warnings: Iterable[str]) -> None:
    """A yellow line for each; what stands in brackets in one is text, and not a style."""
    for warning in warnings:
        console.print(f"warning: {warning}", style="yellow", markup=False)


@contextlib.contextmanager
def progress_bars() -> Iterator[ProgressCallback]:
    """Bars by what is going on; on a console that is no terminal, one line for each thing begun;
    with --quiet nothing."""
    if is_quiet():
        yield lambda *_: None
        return
    if not console.is_terminal:
        begun: set[str] = set()

        def say(what: str, done: int, total: int) -> None:
            if what not in begun:
                begun.add(what)
                console.print(f"{what} ...")

        yield say
        return
    columns = (TextColumn("{task.description:24}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, TaskID] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done)

        yield show


def tell_end(
    context: click.Context,
    directory: Path,
    summary: dict[str, Any],
    show: Callable[[dict[str, Any]], None],
    *,
    as_json: bool,
) -> None:
    """The last that a verb says: its summary, where the report is, and by its exit code an
    interrupt. show: the summary as tables."""
    if as_json:
        print_json(summary)
    show(summary)
    console.print(f"report: {(directory / 'report.html').resolve()}", soft_wrap=True)
    if summary["interrupted"]:
        context.exit(INTERRUPTED)


def _milliseconds(side: dict[str, Any] | None, statistic: str) -> str:
    return "-" if side is None else f"{side['iteration_s'][statistic] * 1e3:.1f}"


def _percent(difference: dict[str, float] | None, statistic: str) -> str:
    return "-" if difference is None else f"{difference[statistic]:+.1%}"


def plain_table(title: str) -> Table:
    """A table that fits into 80 columns with its many short numbers."""
    return Table(title=title, box=SIMPLE_HEAD, padding=0)


def arms_table(summary: dict[str, Any]) -> Table:
    """One row an arm: measured, predicted, their difference, the verdict."""
    table = plain_table(f"{summary['scenario']}: iteration time in ms")
    table.add_column("arm", no_wrap=True)
    for heading in ("mean", "p99"):
        table.add_column(f"{heading}\nmeasured", justify="right")
        table.add_column(f"{heading}\npredicted", justify="right")
        table.add_column(f"{heading}\ndiff.", justify="right")
    table.add_column("score", justify="right")
    table.add_column("verdict")
    for arm in summary["arms"]:
        cells = []
        for statistic in ("mean", "p99"):
            cells += [
                _milliseconds(arm["measured"], statistic),
                _milliseconds(arm["predicted"], statistic),
                _percent(arm["difference"], statistic),
            ]
        status = arm["verdict"]["status"] if arm["verdict"] else "-"
        score = "-" if arm["score"] is None else f"{arm['score']:.2f}"
        table.add_row(arm["name"], *cells, score, verdict_words(status))
    return table


def verdict_words(status: str) -> str:
    """A verdict in its colour."""
    colours = {"valid": "green", "suspect": "yellow", "invalid": "red"}
    return f"[{colours.get(status, 'default')}]{status}[/]"


def print_verdicts(verdicts: Mapping[str, dict[str, Any]]) -> None:
    """Every failed invariant in words, and what was not enforced. verdicts: by arm."""
    for arm, verdict in verdicts.items():
        for invariant in verdict["invariants"]:
            if not invariant["ok"]:
                console.print(
                    f"{arm} is {verdict['status']}: {invariant['name']}: "
                    f"{quantity(invariant['value'], invariant['unit'])}, {invariant['bound']} "
                    f"{quantity(invariant['limit'], invariant['unit'])} allowed "
                    f"({invariant['explanation']})",
                    style="yellow",
                )
    unenforced = [clause for verdict in verdicts.values() for clause in verdict["unenforced"]]
    for clause in dict.fromkeys(unenforced):
        console.print(f"not enforced: {clause}")


def print_shares(arm: dict[str, Any]) -> None:
    """A line with the CPUs of each job's workers, where a mechanism gave them."""
    schedule = arm.get("schedule") or {}
    side = schedule.get("measured") or schedule.get("predicted") or {}
    shares = side.get("shares") or {}
    if shares:
        cpus = {job: [f"{share['cpus']:g}" for share in held] for job, held in shares.items()}
        words = ", ".join(f"{job} {', then '.join(held)}" for job, held in cpus.items())
        console.print(f"{arm['name']}: CPUs of each worker, {schedule['mechanism']}: {words}")


def print_summary(summary: dict[str, Any]) -> None:
    """The table of arms, every warning and failed invariant in words, and what was not enforced."""
    console.print(arms_table(summary))
    for arm in summary["arms"]:
        print_shares(arm)
    warnings = {
        warning for arm in summary["arms"] if arm["scale"] for warning in arm["scale"]["warnings"]
    }
    warnings |= {f"no score: {why}" for arm in summary["arms"] for why in arm["incomparable"]}
    warnings |= {
        clipped_words(arm["name"], job, share)
        for arm in summary["arms"]
        for job, share in arm["clipped"].items()
    }
    print_warnings(sorted(warnings))
    print_verdicts({arm["name"]: arm["verdict"] for arm in summary["arms"] if arm["verdict"]})
    if summary["interrupted"]:
        console.print(
            "The run was interrupted; what was measured until then is kept.", style="yellow"
        )
