"""Options that the verbs of traces share, and how a trace is read and shown meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import click
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness.cli.options import Decorator, is_quiet, percentage
from harness.cli.show import console
from traces.errors import BadInputError

share_option: Decorator = click.option(
    "--share",
    metavar="1%",
    default="100%",
    callback=lambda _context, _option, value: _share(value),
    help="Read only so much of a file, from its beginning. Default: all of it.",
)


def _share(text: str) -> float:
    share = percentage(text, "--share")
    if not 0 < share <= 1:
        raise BadInputError(f"{text!r} is out of range", allowed="0% to 100%", key="--share")
    return share


@contextlib.contextmanager
def spinner(what: str) -> Iterator[None]:
    """Shows for how long ``what`` goes on; only on a terminal, and not with --quiet."""
    if is_quiet() or not console.is_terminal:
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        progress.add_task(what, total=None)
        yield
