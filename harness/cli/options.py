"""Arguments and options that several verbs share."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from netshaper.rootless import is_rootless, restart_rootless
from netshaper.run_state import check_run_id, new_run_id
from traces.errors import BadInputError, MissingCapabilityError

INTERRUPTED = 130
"""Exit code of a run that a person stopped, as shells have it."""

_QUIET = "roundelay.quiet"

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

scenario_argument: Decorator = click.argument(
    "scenario_file", metavar="SCENARIO", type=click.Path(path_type=Path)
)
json_option: Decorator = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document on standard output, and nothing else.",
)
output_option: Decorator = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Directory for the results, new or empty. Default: runs/SCENARIO-TIME.",
)
run_id_option: Decorator = click.option(
    "--run-id",
    default=new_run_id,
    callback=lambda _context, _option, value: check_run_id(value),
    show_default="eight random digits",
    help="Name of the run in namespaces and cgroups: 4 to 12 lower-case letters and digits.",
)
quiet_option: Decorator = click.option(
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _option, value: context.meta.update({_QUIET: value}),
    help="Leave progress out of standard error, for logs; warnings and results stay.",
)
rootless_option: Decorator = click.option(
    "--rootless",
    is_flag=True,
    help="Emulate without root, in a user namespace; without cgroups.",
)


def is_quiet() -> bool:
    """Whether the verb that runs was told to leave progress out."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_QUIET))


def percentage(text: str, option: str) -> float:
    """'5%' as 0.05. BadInputError that names ``option`` where it is no percentage."""
    found = re.match(r"^\s*(\d+(?:\.\d+)?)\s*%\s*$", text)
    if found is None:
        raise BadInputError(f"{text!r} is not a percentage", allowed="such as 5%", key=option)
    return float(found[1]) / 100


def quantity(parse: Callable[[str], float], text: str, option: str) -> float:
    """``text`` as ``traces.quantities`` reads it. BadInputError that names ``option``."""
    try:
        return parse(text)
    except ValueError as error:
        problem, _, allowed = str(error).partition("|")
        raise BadInputError(problem, allowed=allowed, key=option) from None


def check_arm(only_arm: str | None, names: Sequence[str], scenario_file: Path) -> None:
    """BadInputError where ``--arm`` names none of the scenario's."""
    if only_arm is not None and only_arm not in names:
        raise BadInputError(
            f"there is no arm {only_arm!r}",
            allowed=", ".join(names),
            file=scenario_file,
            key="arms",
        )


def begin_rootless() -> None:
    """Begin this command again inside a user namespace, unless it is there already."""
    if not is_rootless():
        restart_rootless()


def refuse_rootless(scenario_file: Path, *, rootless: bool) -> None:
    """A cluster that is scheduled by CPU and memory needs groups that hold jobs to them."""
    if rootless:
        raise MissingCapabilityError(
            f"{scenario_file} gives out CPUs and memory, which --rootless cannot hold jobs to",
            remedy="run it with sudo, and without --rootless",
        )


def default_output(scenario_file: Path) -> Path:
    """runs/SCENARIO-TIME below the current directory."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("runs") / f"{scenario_file.stem}-{stamp}"
