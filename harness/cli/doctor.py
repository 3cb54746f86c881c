"""roundelay doctor."""

from __future__ import annotations

from dataclasses import asdict

import click

from emulator.doctor import examine
from harness.cli.options import json_option
from harness.cli.show import console, print_json


@click.command()
@json_option
@click.pass_context
def doctor(context: click.Context, as_json: bool) -> None:
    """Say what this box can do, and how to get what it lacks. Exits with 3 where a run cannot work.

    \b
    Example:
      sudo roundelay doctor
    """
    findings = examine()
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    for finding in findings:
        sign, style = ("✓", "green") if finding.ok else ("✗", "red" if finding.needed else "yellow")
        remedy = "" if finding.ok or not finding.remedy else f": {finding.remedy}"
        console.print(f"[{style}]{sign}[/] {finding.name}: {finding.found}{remedy}", soft_wrap=True)
    if any(finding.needed and not finding.ok for finding in findings):
        context.exit(3)
