"""roundelay demand: import and compare the network demands of models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli.demand_import import import_
from harness.cli.lazy_group import LazyGroup
from harness.cli.options import json_option
from harness.cli.show import console, plain_table, print_json
from harness.scheduling.cassini.interleaving import interleave
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.rotation import Rotation, score_at
from traces.demand import DemandCurve, demand_curve
from traces.errors import BadInputError
from traces.model_profile import ModelProfile, read_profile
from traces.models import RECONSTRUCTED
from traces.quantities import format_duration, format_rate, parse_rate_bps

_LEAST_WORKERS = 2  # one alone sends nothing


@click.group(cls=LazyGroup, names=("fit",), prefix="harness.cli.demand_")
def demand() -> None:
    """What one iteration of a model puts on the network.

    \b
    Example:
      roundelay demand import kineto trace.json.gz -o resnet50.json
    """


demand.add_command(import_)


def _profile(name: str) -> ModelProfile:
    if name in RECONSTRUCTED:
        model = RECONSTRUCTED[name]
        return model.profile(max(model.workers[0], _LEAST_WORKERS))
    file = Path(name)
    if not file.is_file():
        allowed = f"a profile's file, or one of {', '.join(RECONSTRUCTED)}"
        raise BadInputError(f"there is no profile {name!r}", allowed=allowed)
    return read_profile(file)


@demand.command()
@click.argument("profiles", metavar="PROFILE PROFILE...", nargs=-1, required=True)
@click.option("--link", metavar="'50 Gbit/s'", required=True, help="Rate of the link they share.")
@json_option
def compat(profiles: tuple[str, ...], link: str, as_json: bool) -> None:
    """Score how well jobs fit on one link, and the time-shifts that fit them best (CASSINI).

    A PROFILE is a file of `demand import`, or a known model (with two workers; gpt3 with four).

    \b
    Example:
      roundelay demand compat vgg19 vgg19 --link 50Gbit/s
    """
    try:
        capacity_bps = parse_rate_bps(link)
    except ValueError as error:
        problem, _, allowed = str(error).partition("|")
        raise BadInputError(problem, allowed=allowed, key="--link") from None
    found = [_profile(name) for name in profiles]
    curves = [demand_curve(profile.demand, capacity_bps) for profile in found]
    rotation = _rotation(profiles, curves, capacity_bps)
    unshifted = score_at(rotation.circle, [0.0] * len(found))
    jobs = [
        {
            "profile": name,
            "model": profile.model,
            "iteration_s": curve.period_s,
            "period_s": period_s,
            "time_shift_s": shift_s,
        }
        for name, profile, curve, period_s, shift_s in zip(
            profiles, found, curves, rotation.circle.periods_s, rotation.shifts_s, strict=True
        )
    ]
    if as_json:
        print_json(
            {
                "link_bps": capacity_bps,
                "score": rotation.score,
                "score_unshifted": unshifted,
                "perimeter_s": rotation.circle.perimeter_s,
                "period_rounding": rotation.circle.period_rounding,
                "exact": rotation.exact,
                "jobs": jobs,
            }
        )
    table = plain_table(f"on one link of {format_rate(capacity_bps)}")
    for heading in ("job", "iteration alone", "time-shift"):
        table.add_column(heading, justify="left" if heading == "job" else "right")
    for job, curve, shift_s in zip(jobs, curves, rotation.shifts_s, strict=True):
        table.add_row(str(job["model"]), format_duration(curve.period_s), format_duration(shift_s))
    console.print(table)
    console.print(
        f"score {rotation.score:.3f} with the time-shifts, {unshifted:.3f} without "
        "(1: fully compatible); "
        f"periods were lengthened by up to {rotation.circle.period_rounding:.2%}"
    )
    if not rotation.exact:
        console.print("note: found by coordinate descent, so there may be a better rotation")


def _rotation(
    profiles: Sequence[str], curves: Sequence[DemandCurve], capacity_bps: float
) -> Rotation:
    """As a scheduler would rotate them: with the periods with which least time is lost."""
    names = tuple(f"{number} ({name})" for number, name in enumerate(profiles, start=1))
    link = SharedLink(names, (), tuple(curves), capacity_bps)
    (rotated,) = interleave([link], Rotations()).links
    if rotated.rotation is None:
        allowed = "jobs whose circles can be compared"
        raise BadInputError(rotated.incomparable, allowed=allowed, key="PROFILE")
    return rotated.rotation
