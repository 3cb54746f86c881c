"""What `roundelay profile network` does on this machine, without emulated servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import click
import pandas as pd

from emulator.interrupt import stop_on_signals
from harness.cli.demand_fit import print_fit
from harness.cli.options import INTERRUPTED
from harness.cli.profile_network_kineto import print_recordings, recording_document
from harness.cli.show import console, plain_table, print_json, print_warnings, progress_bars
from profiler.demand_fit.pattern import Estimate
from profiler.measuring.log import last_words
from profiler.network.command_here import LOG_NAME, JobHere, count_command
from profiler.network.device_counters import FoundDevices, choose, find_devices
from profiler.network.fitted_run import FittedRun, fit_run
from profiler.network.kineto_recording import read_recordings, recorded
from traces.errors import BadInputError, RoundelayError
from traces.load_series import LoadSeries
from traces.model_profile import ModelProfile, profile_document, write_profile
from traces.quantities import format_duration, format_size
from traces.run_directory import give_to_caller, prepare_directory, write_json

_TRACES = "kineto"
_SLOW = 0.9  # of the readings that were asked for
_MANY_GAPS = 0.01
_NOT_TOLD = (
    "the command told no iterations (emulator.iterations.iteration_done() after each one does): "
    "the fit stands alone"
)


def profile_here(
    context: click.Context,
    job: JobHere,
    device_names: Sequence[str],
    workers: int,
    model: str,
    directory: Path,
    *,
    kineto: bool,
    as_json: bool,
) -> None:
    """Run ``job`` on the devices that are chosen, and write and show what it sent."""
    found = find_devices()
    job = replace(job, devices=choose(found, device_names))
    traces = (directory / _TRACES).resolve() if kineto else None
    if traces is not None:
        job = recorded(job, traces)
    made = prepare_directory(directory)
    if traces is not None:
        traces.mkdir()
        give_to_caller(made)  # the command may be its own user's
    try:
        with (
            stop_on_signals(lambda: console.print("stopping ...")) as stop,
            progress_bars() as progress,
        ):
            run = count_command(
                job,
                directory,
                lambda done, total: progress("counting", done, total),
                stop.wanted,
            )
        fitted = fit_run(run, are_chosen=bool(device_names))
        profile = _profile(fitted, model, workers)
        recordings = [] if traces is None else read_recordings(traces)
        document = _document(fitted, profile, found, directory)
        if traces is not None:
            document["kineto"] = [recording_document(each) for each in recordings]
        _write(fitted, profile, document, directory)
    finally:
        give_to_caller(made)
    _check(fitted, directory)
    if as_json:
        print_json(document)
    _print(fitted, found)
    if traces is not None:
        print_recordings(recordings)
    if profile is not None:
        console.print(f"profile: {(directory / 'profile.json').resolve()}", soft_wrap=True)
    console.print(f"what the command printed: {(directory / LOG_NAME).resolve()}", soft_wrap=True)
    if run.interrupted:
        context.exit(INTERRUPTED)


def _check(fitted: FittedRun, directory: Path) -> None:
    """RoundelayError where the command failed, or nothing was found; a person's stop is neither."""
    run = fitted.run
    if run.interrupted:
        return
    kept = f"; what was counted is kept in {directory}"
    if run.status not in (None, 0):
        words = last_words(directory / LOG_NAME)
        said = f"; it last wrote: {words}" if words else ", and wrote nothing"
        raise RoundelayError(f"the command ended with status {run.status}{said}{kept}")
    if fitted.problem is not None:
        raise BadInputError(
            f"{fitted.problem.problem}{kept}", allowed=fitted.problem.allowed
        ) from None


def _profile(fitted: FittedRun, model: str, workers: int) -> ModelProfile | None:
    pattern = fitted.pattern
    if pattern is None or not pattern.phases:
        return None
    devices = ", ".join(each.device.name for each in fitted.devices if each.left_out is None)
    return ModelProfile(
        model=model,
        num_gpus=workers,
        demand=pattern.demand(),
        provenance="measured",
        source=(
            f"fitted to {pattern.iterations} iterations of {' '.join(fitted.run.job.command)!r}, "
            f"as {devices} counted what this machine sent"
        ),
        measured_iteration_s=(fitted.timer or pattern.period_s).value,
    )


def _document(
    fitted: FittedRun, profile: ModelProfile | None, found: FoundDevices, directory: Path
) -> dict[str, object]:
    run, readings = fitted.run, fitted.run.readings
    return {
        "profile": None if profile is None else profile_document(profile),
        "interrupted": run.interrupted,
        "problem": None if fitted.problem is None else fitted.problem.problem,
        "command": {
            "status": run.status,
            "began_unix_s": run.began_unix_s,
            "ran_s": run.length_s,
            "iterations": run.iterations_done,
            "refused_reports": run.refused_reports,
            "log": str((directory / LOG_NAME).resolve()),
        },
        "sampling": {
            "wanted_interval_s": readings.wanted_interval_s,
            "interval_s": readings.interval_s,
            "rate_hz": readings.rate_hz,
            "readings": len(readings.times_s),
            "gaps": 0 if fitted.sent is None else fitted.sent.num_gaps,
        },
        "devices": [
            {
                "device": count.device.name,
                "sent_bytes": count.sent_bytes,
                "received_bytes": count.received_bytes,
                "left_out": count.left_out,
                "refresh_s": count.device.refresh_s,
                "notes": list(count.notes),
            }
            for count in fitted.devices
        ],
        "unreadable": dict(found.unreadable),
        "timer_s": _plain(fitted.timer),
        "marked_bytes": _plain(fitted.marked_bytes),
        "period_error": fitted.period_error,
        "begins_after_mark_s": fitted.begins_after_mark_s,
        "patterns": [] if fitted.fit is None else [asdict(each) for each in fitted.fit.patterns],
        "unfitted": [] if fitted.fit is None else [list(part) for part in fitted.fit.unfitted],
    }


def _plain(estimate: Estimate | None) -> dict[str, float] | None:
    return None if estimate is None else asdict(estimate)


def _write(
    fitted: FittedRun,
    profile: ModelProfile | None,
    document: dict[str, object],
    directory: Path,
) -> None:
    """The series as ``demand fit`` reads them, the job's own iterations, and what was found."""
    for count in fitted.devices:
        _write_series(count.series, directory / f"{count.device.name.replace('/', '-')}.csv")
    marks = fitted.run.marks
    if marks:
        frame = pd.DataFrame(
            {"end_s": [mark.t_s for mark in marks], "done": [mark.done for mark in marks]}
        )
        frame.to_csv(directory / "iterations.csv", index=False, float_format="%.6f")
    if profile is not None:
        write_profile(profile, directory / "profile.json")
    write_json(directory / "summary.json", document)


def _write_series(series: LoadSeries, file: Path) -> None:
    """Bytes since the row before; a field that is empty was not sampled."""
    columns = {"sent_bytes": series.sent_bytes, "received_bytes": series.received_bytes}
    frame = pd.DataFrame(
        {
            name: pd.array([None, *values.round()], dtype="Float64").astype("Int64")
            for name, values in columns.items()
            if values is not None
        }
    )
    frame.insert(0, "time_s", series.edges_s)
    frame.to_csv(file, index=False, float_format="%.6f")


def _print(fitted: FittedRun, found: FoundDevices) -> None:
    readings = fitted.run.readings
    table = plain_table(f"this machine, in {format_duration(fitted.run.length_s)}")
    for heading in ("device", "sent", "received", "in the sum"):
        table.add_column(heading, justify="right" if heading in ("sent", "received") else "left")
    for count in fitted.devices:
        table.add_row(
            count.device.name,
            format_size(count.sent_bytes),
            format_size(count.received_bytes),
            "yes" if count.left_out is None else f"no: {count.left_out}",
        )
    console.print(table)
    console.print(f"the counters were read {readings.rate_hz:,.0f} times a second")
    print_warnings(_doubts(fitted, found))
    if fitted.fit is not None and fitted.sent is not None:
        print_fit(fitted.sent, fitted.fit)
    if fitted.timer is None:
        console.print(_NOT_TOLD)
    else:
        _print_marks(fitted)


def _print_marks(fitted: FittedRun) -> None:
    """What the job itself said, beside the fit."""
    if fitted.timer is None:
        return
    words = f"by the job's own timer an iteration takes {format_duration(fitted.timer.value)}"
    if fitted.period_error is not None:
        words += f" ({fitted.period_error:+.2%} in the fit)"
    if fitted.marked_bytes is not None:
        words += f", and sends {format_size(fitted.marked_bytes.value)}"
    console.print(words)
    if fitted.begins_after_mark_s is not None:
        after = format_duration(fitted.begins_after_mark_s)
        console.print(f"the fit has an iteration begin {after} after the job does")


def _doubts(fitted: FittedRun, found: FoundDevices) -> list[str]:
    run = fitted.run
    readings = run.readings
    doubts = [f"{name} is not counted: {why}" for name, why in found.unreadable]
    doubts += [
        f"{each.device.name}: {note}" for each in fitted.devices for note in each.series.notes
    ]
    summed = {count.device.name for count in fitted.devices if count.left_out is None}
    doubts += [
        f"{device.name} and {device.netdev} are one port, and both are in the sum: right where "
        f"{device.netdev} does not count RDMA, as usual; else choose one with --device"
        for device in run.job.devices
        if device.name in summed and device.netdev in summed
    ]
    if readings.rate_hz * readings.wanted_interval_s < _SLOW:
        doubts.append(
            f"the counters were read every {format_duration(readings.interval_s)} and not every "
            f"{format_duration(readings.wanted_interval_s)}"
        )
    if fitted.gap_share > _MANY_GAPS:
        doubts.append(f"{fitted.gap_share:.1%} of the intervals were missed: the CPUs are busy")
    if run.refused_reports:
        doubts.append(f"reports of iterations that were no number: {run.refused_reports:,}")
    if run.interrupted:
        doubts.append("interrupted; what was counted until then is kept")
    if fitted.problem is not None:
        doubts.append(f"no profile: {fitted.problem.problem}")
    return doubts
