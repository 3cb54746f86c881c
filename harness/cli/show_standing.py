"""What a person sees of an emulated cluster while it runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from harness.cli.options import is_quiet
from harness.cli.show import console
from harness.experiments.rounds.emulate import Standing

_LINE_EVERY_S = 30.0
_S_PER_H = 3600.0

Show = Callable[[str, Standing], None]


@contextlib.contextmanager
def standing_bars() -> Iterator[Show]:
    """A bar for each run; on a console that is no terminal, a line every half minute; with --quiet
    nothing."""
    if is_quiet():
        yield lambda *_: None
        return
    if not console.is_terminal:
        yield _lines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TimeElapsedColumn())
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, tuple[TaskID, float]] = {}

        def show(what: str, standing: Standing) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=standing.jobs), time.monotonic()
            task, since_s = tasks[what]
            words = f"{what}: {_words(standing, time.monotonic() - since_s)}"
            bars.update(task, completed=standing.finished, description=words)

        yield show


def _lines() -> Show:
    begun: dict[str, float] = {}
    last: dict[str, float] = {}

    def say(what: str, standing: Standing) -> None:
        now_s = time.monotonic()
        begun.setdefault(what, now_s)
        if now_s - last.get(what, -_LINE_EVERY_S) >= _LINE_EVERY_S:
            last[what] = now_s
            console.print(f"{what}: {_words(standing, now_s - begun[what])}")

    return say


def _words(standing: Standing, wall_s: float) -> str:
    """How fast it goes shows once it has gone for a while."""
    speed = f", {standing.emulated_s / wall_s:.0f} x" if wall_s > 1 else ""
    return (
        f"{standing.running} running, {standing.waiting} waiting, {standing.finished} of "
        f"{standing.jobs} finished, {standing.emulated_s / _S_PER_H:.1f} h{speed}, "
        f"{standing.verdict}"
    )
