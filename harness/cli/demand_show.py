"""roundelay demand show."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from harness.cli.demand_output import write_output
from harness.cli.demand_profiles import check_drawing, link_rate_bps, profile_of
from harness.cli.options import json_option
from harness.cli.show import console, print_json
from harness.cli.show_demand import print_iteration
from harness.cli.show_words import say
from harness.report.demands.draw import draw_iteration
from harness.report.demands.iteration import IterationDrawing, iteration_drawing


@click.command()
@click.argument("profile", metavar="PROFILE")
@click.option(
    "--link",
    metavar="RATE",
    default="50 Gbit/s",
    show_default=True,
    help="Rate of the link, which the job has for itself.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Draw into this file, PNG or SVG by its name, and not in the terminal.",
)
@json_option
def show(profile: str, link: str, output: Path | None, as_json: bool) -> None:
    """Draw one iteration: when it computes, when it sends and how fast, and its circle.

    PROFILE is a file of `demand import` or `demand fit`, or a known model (with two workers; gpt3
    with four).

    \b
    Example:
      roundelay demand show resnet50.json --link 10Gbit/s -o resnet50.svg
    """
    check_drawing(output)
    drawing = iteration_drawing(profile_of(profile), link_rate_bps(link))
    if output is not None:
        write_output(partial(draw_iteration, drawing), output)
    if as_json:
        print_json(_document(profile, drawing, output))
    if output is None:
        print_iteration(drawing)
    say(drawing.words)
    if output is not None:
        console.print(f"drawing: {output.resolve()}", soft_wrap=True, markup=False)


def _document(profile: str, drawing: IterationDrawing, output: Path | None) -> dict[str, object]:
    iteration = drawing.iteration
    return {
        "profile": profile,
        "model": drawing.model,
        "link_bps": drawing.link_bps,
        "iteration_s": iteration.period_s,
        "computing": [list(span) for span in iteration.computing],
        "transfers": [
            {
                "name": sent.transfer.name,
                "bytes": sent.transfer.bytes,
                "pattern": sent.transfer.pattern,
                "blocking": sent.transfer.blocking,
                "ready_s": sent.ready_s,
                "start_s": sent.start_s,
                "end_s": sent.end_s,
                "rate_bps": sent.rate_bps,
                "sent_by_first_worker": sent.is_own,
            }
            for sent in iteration.transfers
        ],
        "phases": [
            {"start_s": phase.start_s, "end_s": phase.end_s, "rate_bps": phase.rate_bps}
            for phase in drawing.curve.phases
        ],
        "words": drawing.words,
        "file": None if output is None else str(output),
    }
