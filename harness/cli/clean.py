"""roundelay clean."""

from __future__ import annotations

from dataclasses import asdict

import click

from emulator.clean import Cleaned, clean_run, leftovers
from emulator.session import require_privileges
from harness.cli.options import json_option
from harness.cli.show import console, print_json
from netshaper.run_state import all_states, remove_unfinished_claims
from traces.errors import BadInputError, RoundelayError


@click.command()
@click.option("--run", "run_id", metavar="ID", help="Only this run, which must have ended.")
@click.option("--all", "takes_all", is_flag=True, help="Every run that has ended. The default.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what would be removed, with --run or --all as without, and remove nothing.",
)
@json_option
def clean(run_id: str | None, takes_all: bool, dry_run: bool, as_json: bool) -> None:
    """Remove what runs left behind after a crash or a kill, and nothing of anybody else's.

    A run that is still going on is left alone.

    \b
    Example:
      sudo roundelay clean --dry-run
      sudo roundelay clean
      sudo roundelay clean --run 3f9a01bc
    """
    if run_id is not None and takes_all:
        raise BadInputError(
            "it is said twice what to remove", allowed="one of --run ID and --all", key="--all"
        )
    require_privileges()
    states = list(all_states())
    if run_id is not None:
        states = [state for state in states if state.run_id == run_id]
        if not states:
            known = ", ".join(state.run_id for state in all_states()) or "there are none"
            raise BadInputError(f"there is no run {run_id!r}", allowed=known, key="--run")
        if states[0].owner.is_alive():
            raise RoundelayError(
                f"the run {run_id} is still going on (process {states[0].owner.pid}); stop it first"
            )
    going_on = [state.run_id for state in states if state.owner.is_alive()]
    ended = [state for state in states if not state.owner.is_alive()]
    cleaned = [leftovers(state) if dry_run else clean_run(state) for state in ended]
    if run_id is None and not dry_run:
        remove_unfinished_claims()
    if as_json:
        print_json(
            {"dry_run": dry_run, "runs": [asdict(run) for run in cleaned], "going_on": going_on}
        )
    for run in cleaned:
        console.print(_sentence(run, dry_run), soft_wrap=True)
    if not cleaned:
        console.print("nothing to remove")
    for name in going_on:
        console.print(f"{name} is still going on and was left alone")


def _sentence(run: Cleaned, dry_run: bool) -> str:
    verb = "would remove" if dry_run else "removed"
    return (
        f"{run.run_id}: {verb} {len(run.namespaces)} namespaces, {len(run.cgroups)} cgroups, "
        f"{len(run.processes)} processes, and its record"
    )
