"""roundelay demand compat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from harness.cli.demand_output import write_output
from harness.cli.demand_profiles import check_drawing, link_rate_bps, profile_of
from harness.cli.options import json_option
from harness.cli.show import console, plain_table, print_json
from harness.cli.show_demand import print_shared_link
from harness.cli.show_words import plain, say
from harness.report.demands.draw import draw_shared_link
from harness.report.demands.shared_link import SharedLinkDrawing, shared_link_drawing
from harness.scheduling.cassini.interleaving import interleave
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.rotation import Rotation
from traces.demand import DemandCurve, demand_curve
from traces.errors import BadInputError
from traces.model_profile import ModelProfile
from traces.quantities import format_duration, format_rate


@click.command()
@click.argument("profiles", metavar="PROFILE PROFILE...", nargs=-1, required=True)
@click.option("--link", metavar="'50 Gbit/s'", required=True, help="Rate of the link they share.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Draw into this file, PNG or SVG by its name, and not in the terminal.",
)
@json_option
def compat(profiles: tuple[str, ...], link: str, output: Path | None, as_json: bool) -> None:
    """Score how well jobs fit on one link, and the time-shifts that fit them best (CASSINI).

    Draws their circles before and after they are shifted. A PROFILE is a file of `demand import`
    or `demand fit`, or a known model (with two workers; gpt3 with four).

    \b
    Example:
      roundelay demand compat vgg19 vgg19 --link 50Gbit/s -o compat.png
    """
    check_drawing(output)
    capacity_bps = link_rate_bps(link)
    found = [profile_of(name) for name in profiles]
    curves = [demand_curve(profile.demand, capacity_bps) for profile in found]
    rotation = _rotation(profiles, curves, capacity_bps)
    drawing = shared_link_drawing([profile.model for profile in found], rotation)
    if output is not None:
        write_output(partial(draw_shared_link, drawing), output)
    if as_json:
        print_json(_document(profiles, found, rotation, drawing, output))
    _print(rotation, drawing, shown=output is None)
    if output is not None:
        console.print(f"drawing: {output.resolve()}", soft_wrap=True, markup=False)


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


def _document(
    names: Sequence[str],
    profiles: Sequence[ModelProfile],
    rotation: Rotation,
    drawing: SharedLinkDrawing,
    output: Path | None,
) -> dict[str, object]:
    circle = rotation.circle
    return {
        "link_bps": circle.capacity_bps,
        "score": rotation.score,
        "score_unshifted": drawing.before.score,
        "above_capacity": drawing.after.excess,
        "above_capacity_unshifted": drawing.before.excess,
        "perimeter_s": circle.perimeter_s,
        "period_rounding": circle.period_rounding,
        "exact": rotation.exact,
        "jobs": [
            {
                "profile": name,
                "model": profile.model,
                "iteration_s": curve.period_s,
                "period_s": period_s,
                "time_shift_s": shift_s,
            }
            for name, profile, curve, period_s, shift_s in zip(
                names, profiles, circle.curves, circle.periods_s, rotation.shifts_s, strict=True
            )
        ],
        "words": drawing.words,
        "file": None if output is None else str(output),
    }


def _print(rotation: Rotation, drawing: SharedLinkDrawing, *, shown: bool) -> None:
    circle = rotation.circle
    table = plain_table(f"on one link of {format_rate(circle.capacity_bps)}")
    for heading in ("job", "iteration alone", "time-shift"):
        table.add_column(heading, justify="left" if heading == "job" else "right")
    for job, curve, shift_s in zip(drawing.jobs, circle.curves, rotation.shifts_s, strict=True):
        table.add_row(plain(job), format_duration(curve.period_s), format_duration(shift_s))
    console.print(table)
    if shown:
        print_shared_link(drawing)
    console.print(
        f"score {rotation.score:.3f} with the time-shifts, {drawing.before.score:.3f} without "
        "(1: fully compatible); "
        f"periods were lengthened by up to {circle.period_rounding:.2%}"
    )
    say(drawing.words)
    if not rotation.exact:
        console.print("note: found by coordinate descent, so there may be a better rotation")
