"""roundelay demand: import and compare the network demands of models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.cli.options import json_option
from harness.cli.show import console, plain_table, print_json
from harness.scheduling.cassini.interleaving import interleave
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.rotation import Rotation, score_at
from traces.demand import DemandCurve, demand_curve
from traces.errors import BadInputError
from traces.formats.kineto import (
    CollectiveRecord,
    IterationRecord,
    KinetoImport,
    import_kineto,
)
from traces.model_profile import ModelProfile, profile_document, read_profile, write_profile
from traces.models import RECONSTRUCTED
from traces.quantities import format_duration, format_rate, format_size, parse_rate_bps
from traces.run_directory import give_to_caller

_LEAST_WORKERS = 2  # one alone sends nothing


@click.group()
def demand() -> None:
    """What one iteration of a model puts on the network.

    \b
    Example:
      roundelay demand import kineto trace.json.gz -o resnet50.json
    """


@demand.command("import")
@click.argument("source_format", metavar="FORMAT", type=click.Choice(["kineto"]))
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Default: FILE's name, .demand.json."
)
@click.option("--model", help="Name of the model. Default: FILE's name.")
@json_option
def import_(
    source_format: str, file: Path, output: Path | None, model: str | None, as_json: bool
) -> None:
    """Turn a trace into a profile with a Demand. FORMAT: kineto (a PyTorch profiler trace).

    \b
    Example:
      roundelay demand import kineto trace.json.gz -o resnet50.json
    """
    del source_format  # one so far; click has checked it
    imported = import_kineto(file, model)
    target = output or Path(f"{file.name.partition('.')[0]}.demand.json")
    try:
        write_profile(imported.profile, target)
    except OSError as error:
        raise BadInputError(
            f"cannot be written: {error.strerror}", allowed="a writable place", file=target
        ) from None
    give_to_caller(target)
    if as_json:
        print_json(_import_document(imported, target))
    _print_import(imported)
    console.print(f"profile: {target.resolve()}", soft_wrap=True)


def _import_document(imported: KinetoImport, target: Path) -> dict[str, object]:
    return {
        "profile": profile_document(imported.profile),
        "iterations": [
            {
                "name": iteration.name,
                "duration_s": iteration.duration_s,
                "collectives": [
                    {
                        "name": collective.name,
                        "start_s": collective.start_s,
                        "elements": collective.elements,
                        "dtype": collective.dtype,
                        "bytes": collective.bytes,
                        "wire_bytes": collective.wire_bytes,
                        "group_size": collective.group_size,
                    }
                    for collective in iteration.collectives
                ],
            }
            for iteration in imported.iterations
        ],
        "notes": list(imported.notes),
        "file": str(target),
    }


def _by_kind(iteration: IterationRecord) -> dict[tuple[str, str], list[CollectiveRecord]]:
    """The collectives of one iteration by name and data type, in order of appearance."""
    kinds: dict[tuple[str, str], list[CollectiveRecord]] = {}
    for collective in iteration.collectives:
        kinds.setdefault((collective.name, collective.dtype), []).append(collective)
    return kinds


def _print_import(imported: KinetoImport) -> None:
    table = plain_table(f"{imported.profile.model}: {len(imported.iterations)} iterations")
    for heading in ("iteration", "duration", "collectives", "elements", "on the wire, a worker"):
        table.add_column(heading, justify="left" if heading == "iteration" else "right")
    for iteration in imported.iterations:
        label = [iteration.name, format_duration(iteration.duration_s)]
        for (name, dtype), group in _by_kind(iteration).items():
            table.add_row(
                *label,
                f"{len(group)} {name}",
                f"{sum(collective.elements for collective in group):,} {dtype}",
                format_size(sum(collective.wire_bytes for collective in group)),
            )
            label = ["", ""]
    console.print(table)
    transfers = imported.profile.demand.transfers
    console.print(
        f"demand: {format_duration(imported.profile.demand.compute_s)} of compute, "
        f"{len(transfers)} transfers, "
        f"{format_size(imported.profile.demand.bytes_per_worker)} a worker and iteration"
    )
    for note in imported.notes:
        console.print(f"note: {note}", soft_wrap=True)


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
