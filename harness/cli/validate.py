"""roundelay validate."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from harness.cli.options import json_option, percentage
from harness.cli.show import console, plain_table, print_json
from harness.fidelity.compare import Fidelity, compare
from traces.errors import BadInputError
from traces.run_directory import read_table

_SHOWN = ("mean", "p99")


@click.command()
@click.argument("reference", type=click.Path(path_type=Path))
@click.argument("prediction", type=click.Path(path_type=Path))
@click.option("--within", metavar="5%", help="Exit with 1 where a mean differs by more than this.")
@json_option
@click.pass_context
def validate(
    context: click.Context, reference: Path, prediction: Path, within: str | None, as_json: bool
) -> None:
    """Compare the run directory PREDICTION with REFERENCE, arm by arm.

    \b
    Example:
      roundelay validate runs/first/emulated runs/first/simulated --within 5%
    """
    limit = None if within is None else percentage(within, "--within")
    fidelity = compare(read_table(reference, "iterations"), read_table(prediction, "iterations"))
    if not fidelity.comparisons:
        raise BadInputError(
            "the two runs have no arm in common",
            allowed=f"runs of the same scenario; REFERENCE has {_names(fidelity.only_reference)}, "
            f"PREDICTION has {_names(fidelity.only_prediction)}",
            file=prediction,
        )
    holds = None if limit is None else fidelity.worst <= limit
    if as_json:
        print_json(_document(fidelity, limit, holds))
    _print(fidelity)
    if holds is False:
        console.print(f"the largest difference of a mean is {fidelity.worst:.2%}, above {within}")
        context.exit(1)


def _names(arms: tuple[str, ...]) -> str:
    return ", ".join(arms) or "none"


def _document(fidelity: Fidelity, limit: float | None, holds: bool | None) -> dict[str, object]:
    return {
        "arms": [
            {
                "name": comparison.arm,
                "reference": {"iteration_s": asdict(comparison.reference)},
                "prediction": {"iteration_s": asdict(comparison.prediction)},
                "difference": comparison.difference,
            }
            for comparison in fidelity.comparisons
        ],
        "only_in_reference": list(fidelity.only_reference),
        "only_in_prediction": list(fidelity.only_prediction),
        "worst_mean_difference": fidelity.worst,
        "within": limit,
        "holds": holds,
    }


def _print(fidelity: Fidelity) -> None:
    table = plain_table("prediction against reference: iteration time in ms")
    table.add_column("arm", no_wrap=True)
    for statistic in _SHOWN:
        for side in ("reference", "prediction", "diff."):
            table.add_column(f"{statistic}\n{side}", justify="right")
    for comparison in fidelity.comparisons:
        reference, prediction = asdict(comparison.reference), asdict(comparison.prediction)
        cells = []
        for statistic in _SHOWN:
            values = (reference[statistic], prediction[statistic])
            cells += [f"{value * 1e3:.1f}" for value in values]
            cells.append(f"{comparison.difference[statistic]:+.1%}")
        table.add_row(comparison.arm, *cells)
    console.print(table)
    for side, arms in (
        ("REFERENCE", fidelity.only_reference),
        ("PREDICTION", fidelity.only_prediction),
    ):
        if arms:
            console.print(f"not compared, only in {side}: {_names(arms)}", style="yellow")
