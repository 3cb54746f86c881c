"""roundelay validate."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option, percentage
from harness.cli.show import console, print_json, print_warnings
from harness.cli.show_fidelity import print_fidelity
from harness.cli.show_words import plain
from harness.cli.trace_options import spinner
from harness.cli.trace_output import refuse_existing
from harness.fidelity.analysis import analyse, document
from harness.fidelity.conclusion import conclusion
from harness.fidelity.estimates import MARGIN
from harness.fidelity.inputs.read import read_both_sides, read_results
from harness.fidelity.inputs.results import Results
from harness.report.fidelity.article import article_of
from harness.report.page import page_of, write_page


@click.command()
@click.argument("reference")
@click.argument("prediction", required=False)
@click.option(
    "--within",
    metavar="5%",
    help="Exit with 1 where a mean differs by more than this; also the margin of the statements, "
    "which is 5% without it.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write a page with figures, too (HTML); the file must be new.",
)
@json_option
@click.pass_context
def validate(
    context: click.Context,
    reference: str,
    prediction: str | None,
    within: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Say how far PREDICTION is from REFERENCE, and what can be concluded from it.

    Without PREDICTION, REFERENCE is a directory that 'roundelay run' wrote: what it simulated is
    compared with what it emulated.

    Each is a run directory (where it holds both sides, the emulated one is the reference); a CSV or
    Parquet table with job and jct_s, or job and iteration_s, and as far as it is known arm, seed,
    submit_s, finish_s, queue_s and run_s, all times in s; or a result file of Muri, Pollux, Batsim
    or Gavel. A pattern with one * is several of them: what stands for it is the arm, or of run
    directories the repeat.

    --within is a check of these very jobs: it fails where the mean completion time or the mean
    iteration time of an arm differs by more. Whether that would hold for other jobs like them is
    said by the statement of each arm (equivalent, different or undecided), which --json has, too.

    \b
    Example:
      roundelay validate runs/first --within 5%
      roundelay validate physical.csv simulated.csv -o validation.html
    """
    limit = None if within is None else percentage(within, "--within")
    if output is not None:
        refuse_existing(output)
    with spinner("comparing"):
        found = analyse(*_sides(reference, prediction), MARGIN if limit is None else limit)
    if output is not None:
        write_page(page_of({"validation": article_of(found, "validation")}), output)
    holds = None if limit is None else found.worst <= limit
    words = conclusion(found)
    if as_json:
        print_json(document(found, words) | {"within": limit, "holds": holds})
    print_fidelity(found, words)
    print_warnings(plain(words) for words in found.warnings)
    if output is not None:
        console.print(f"page: {output.resolve()}", soft_wrap=True, markup=False)
    if holds is False:
        console.print(f"the largest difference of a mean is {found.worst:.2%}, above {within}")
        context.exit(1)


def _sides(reference: str, prediction: str | None) -> tuple[Results, Results]:
    if prediction is None:
        return read_both_sides(reference)
    return read_results(reference, "reference"), read_results(prediction, "prediction")
