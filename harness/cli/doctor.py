"""roundelay doctor."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
from rich.markup import escape

from emulator.budget import measure_budget, require_quiet_box
from emulator.budget_store import store_budget, stored_and_used
from emulator.doctor import examine
from emulator.interrupt import stop_on_signals
from emulator.machine import this_machine
from emulator.session import Session, require_privileges
from harness.cli.options import INTERRUPTED, json_option
from harness.cli.show import console, print_json, progress_bars
from netshaper.apply import require_tools
from netshaper.run_state import new_run_id


@click.command()
@click.option(
    "--measure",
    "measures",
    is_flag=True,
    help="First measure what this box carries, in ten seconds, and store it for all later runs.",
)
@json_option
@click.pass_context
def doctor(context: click.Context, measures: bool, as_json: bool) -> None:
    """Say what this box can do, and how to get what it lacks. Exits with 3 where a run cannot work.

    With --measure, root is needed, and the box should have nothing else to do.

    \b
    Example:
      sudo roundelay doctor
      sudo roundelay doctor --measure
    """
    if measures and not _measure():
        console.print("stopped; nothing is stored")
        context.exit(INTERRUPTED)
    findings = examine()
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings], "budget": _budget()})
    for finding in findings:
        sign, style = ("✓", "green") if finding.ok else ("✗", "red" if finding.needed else "yellow")
        remedy = "" if finding.ok or not finding.remedy else f": {finding.remedy}"
        text = escape(f"{finding.name}: {finding.found}{remedy}")
        console.print(f"[{style}]{sign}[/] {text}", soft_wrap=True)
    if any(finding.needed and not finding.ok for finding in findings):
        context.exit(3)


def _measure() -> bool:
    """Measure the budget and store it; False where a person stopped that."""
    require_tools()
    require_privileges()
    with stop_on_signals(lambda: console.print("stopping ...")) as stop, progress_bars() as show:
        require_quiet_box()
        with Session(new_run_id()) as session:
            measured = measure_budget(session, this_machine(), show, stop.wanted)
    if measured is None:
        return False
    console.print(f"stored in {escape(str(store_budget(measured)))}", soft_wrap=True)
    return True


def _budget() -> dict[str, Any]:
    stored, used = stored_and_used()
    return {
        "hop_bps": used.hop_bps,
        "source": used.source,
        "stored": stored and stored.model_dump(mode="json"),
    }
