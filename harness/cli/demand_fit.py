"""roundelay demand fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import click

from harness.cli.demand_output import write_demand
from harness.cli.options import json_option, quantity
from harness.cli.show import console, plain_table, print_json, print_warnings
from profiler.demand_fit.fit import fit_series
from profiler.demand_fit.pattern import Estimate, PatternFit, SeriesFit
from traces.errors import BadInputError
from traces.formats.csv_load import Counting, read_csv_load
from traces.formats.packet_series import PacketOptions, is_capture, read_packets
from traces.load_series import LoadSeries
from traces.model_profile import ModelProfile, profile_document
from traces.quantities import (
    format_duration,
    format_rate,
    format_size,
    parse_duration_s,
    parse_rate_bps,
)

_HEAD_BYTES = 2**16  # far more than the header of a packed file
_MOST_SHOWN = 10  # outliers in the table
_LEAST_WORKERS = 2  # one alone sends nothing
_SHORTEST_S, _LONGEST_S = 1e-6, 60.0
_SMALLEST_MTU, _LARGEST_MTU = 576, 65_535


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Default: FILE's name, .demand.json."
)
@click.option("--model", help="Name of the model. Default: FILE's name.")
@click.option(
    "--workers",
    type=click.IntRange(min=_LEAST_WORKERS),
    default=_LEAST_WORKERS,
    show_default=True,
    help="How many the job has, in a ring.",
)
@click.option(
    "--link", metavar="'50 Gbit/s'", help="Rate of the link. Default: that of the fastest phase."
)
@click.option(
    "--counting",
    type=click.Choice([counting.value for counting in Counting]),
    help="Whether CSV has readings of a counter, or bytes since the row before. "
    "Default: what the values tell.",
)
@click.option(
    "--from", "sender", metavar="ADDRESS", help="Sender in a capture. Default: who sent most."
)
@click.option("--to", "receiver", metavar="ADDRESS", help="Receiver in a capture. Default: any.")
@click.option(
    "--interval",
    metavar="'1 ms'",
    default="1 ms",
    show_default=True,
    help="Intervals into which a capture is divided.",
)
@click.option(
    "--mtu",
    "mtu_bytes",
    type=click.IntRange(_SMALLEST_MTU, _LARGEST_MTU),
    default=1500,
    show_default=True,
    help="Of the wire; longer packets of a capture were several frames.",
)
@json_option
def fit(
    file: Path,
    output: Path | None,
    model: str | None,
    workers: int,
    link: str | None,
    counting: str | None,
    sender: str | None,
    receiver: str | None,
    interval: str,
    mtu_bytes: int,
    as_json: bool,
) -> None:
    """Find the iterations in bytes over time, and what one of them sends.

    FILE is CSV with the columns time_s (or time_ms, time_us, time_ns) and sent_bytes, or a capture
    of packets (pcap, pcapng; also packed, .gz). Outlying iterations are said and left out.

    \b
    Example:
      roundelay demand fit eth0.csv -o resnet50.json
      roundelay demand fit worker0.pcap --from 10.0.0.1 --to 10.0.0.2 --interval '500 us'
    """
    line_rate_bps = None if link is None else _rate_bps(link)
    packets = PacketOptions(_interval_s(interval), mtu_bytes, sender, receiver)
    series = _series(file, None if counting is None else Counting(counting), packets)
    try:
        fitted = fit_series(series)
    except BadInputError as error:
        raise BadInputError(error.problem, allowed=error.allowed, file=file) from None
    profile = ModelProfile(
        model=model or file.name.partition(".")[0],
        num_gpus=workers,
        demand=fitted.longest.demand(line_rate_bps),
        provenance="measured",
        source=f"fitted to {fitted.longest.iterations} iterations in {series.source}",
        measured_iteration_s=fitted.longest.period_s.value,
    )
    target = write_demand(profile, file, output)
    if as_json:
        print_json(_document(series, fitted, profile, target))
    print_fit(series, fitted)
    console.print(f"profile: {target.resolve()}", soft_wrap=True, markup=False)


def _rate_bps(text: str) -> float:
    return quantity(parse_rate_bps, text, "--link")


def _interval_s(text: str) -> float:
    interval_s = quantity(parse_duration_s, text, "--interval")
    if not _SHORTEST_S <= interval_s <= _LONGEST_S:
        raise BadInputError(f"{text!r} is out of range", allowed="1 us to 60 s", key="--interval")
    return interval_s


def _series(file: Path, counting: Counting | None, packets: PacketOptions) -> LoadSeries:
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed="CSV, pcap or pcapng", file=file) from None
    if is_capture(head):
        if counting is not None:
            raise BadInputError("is a capture", allowed="CSV", file=file, key="--counting")
        return read_packets(file, packets)
    if packets.sender or packets.receiver:
        key = "--from" if packets.sender else "--to"
        raise BadInputError("is no capture", allowed="pcap or pcapng", file=file, key=key)
    return read_csv_load(file, counting)


def _document(
    series: LoadSeries, fitted: SeriesFit, profile: ModelProfile, target: Path
) -> dict[str, object]:
    return {
        "profile": profile_document(profile),
        "patterns": [asdict(pattern) for pattern in fitted.patterns],
        "unfitted": [list(part) for part in fitted.unfitted],
        "gaps": series.num_gaps,
        "notes": list(series.notes),
        "file": str(target),
    }


def print_fit(series: LoadSeries, fitted: SeriesFit) -> None:
    """What was found in ``series``, and what is to be known of it."""
    for note in series.notes:
        console.print(f"note: {note}", soft_wrap=True, markup=False)
    if series.num_gaps:
        share = series.num_gaps / len(series.sent_bytes)
        console.print(f"note: intervals that were not sampled: {series.num_gaps:,} ({share:.2%})")
    print_warnings(
        f"nothing repeats from {format_duration(start_s)} to {format_duration(end_s)}"
        for start_s, end_s in fitted.unfitted
    )
    if len(fitted.patterns) > 1:
        print_warnings(["the pattern changes; the profile has that of the longest part"])
    for pattern in fitted.patterns:
        _print_pattern(pattern)


def _print_pattern(pattern: PatternFit) -> None:
    table = plain_table(
        f"{pattern.iterations} iterations of {_with_interval(pattern.period_s, format_duration)}, "
        f"from {format_duration(pattern.start_s)} to {format_duration(pattern.end_s)}"
    )
    for heading in ("phase", "start", "end", "bytes", "rate"):
        table.add_column(heading, justify="left" if heading == "phase" else "right")
    for number, phase in enumerate(pattern.phases, start=1):
        table.add_row(
            str(number),
            format_duration(phase.start_s.value),
            format_duration(phase.end_s.value),
            _with_interval(phase.bytes, format_size),
            _with_interval(phase.rate_bps, format_rate),
        )
    console.print(table)
    console.print(
        f"{pattern.unexplained:.1%} of the bytes are off the fit; "
        f"{format_rate(pattern.background_bps)} go on between the phases"
    )
    if pattern.outliers:
        console.print(f"outliers, left out: {len(pattern.outliers)}")
    for outlier in pattern.outliers[:_MOST_SHOWN]:
        console.print(
            f"  iteration {outlier.iteration} at {format_duration(outlier.start_s)}: "
            f"{outlier.why} ({format_duration(outlier.length_s)}, "
            f"{format_size(outlier.sent_bytes)})"
        )
    if len(pattern.outliers) > _MOST_SHOWN:
        console.print(f"  and {len(pattern.outliers) - _MOST_SHOWN:,} more: --json has all of them")


def _with_interval(estimate: Estimate, words: Callable[[float], str]) -> str:
    """The value, and half of the interval that holds it with a probability of 95 %."""
    return f"{words(estimate.value)} ± {words(estimate.high - estimate.value)}"
