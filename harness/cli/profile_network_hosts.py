"""What `roundelay profile network --hosts` does: the job runs on emulated servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np

from emulator.budget_store import budget_here
from emulator.fork_server import CAPTURED_KINDS
from emulator.interrupt import stop_on_signals
from emulator.session import Session
from harness.cli.options import INTERRUPTED
from harness.cli.show import console, plain_table, print_json, print_warnings, progress_bars
from profiler.network.emulated_hosts import CountedJob, JobOnHosts, count_job
from profiler.network.fitted_job import FittedJob, fit_job
from profiler.network.rank_demand import demand_of
from traces.demand import Demand
from traces.model_profile import ModelProfile, profile_document, write_profile
from traces.quantities import format_duration, format_rate, format_size
from traces.run_directory import give_to_caller, prepare_directory, write_json


def profile_on_hosts(
    context: click.Context,
    jobs: Sequence[JobOnHosts],
    model: str,
    directory: Path,
    run_id: str,
    *,
    as_json: bool,
) -> None:
    """Run ``jobs``, and write and show what each rank sent; they differ by their links alone, of
    which the fastest comes first."""
    counted: list[CountedJob] = []
    with Session(run_id, kinds=CAPTURED_KINDS) as session:
        made = prepare_directory(directory)
        try:
            with (
                stop_on_signals(lambda: console.print("stopping after this iteration ...")) as stop,
                progress_bars() as progress,
            ):
                for number, job in enumerate(jobs):
                    if stop.wanted():
                        break
                    what = f"counting at {format_rate(job.rate_bps)}"
                    place = directory / _file_name(job.rate_bps)
                    place.mkdir()
                    progress(what, 0, job.iterations)
                    counted.append(
                        count_job(
                            session, job, budget_here(), place, number,
                            lambda done, total, what=what: progress(what, done, total),  # type: ignore[misc]
                            stop.wanted, logs=place,
                        )
                    )  # fmt: skip
                    _write_series(place, counted[-1])
        finally:
            give_to_caller(made)
    fitted = [fit_job(job) for job in counted]
    slower = fitted[-1].seen if len(fitted) > 1 else None
    demand = demand_of(fitted[0].seen, slower)
    profile = _profile(model, demand, fitted[0])
    write_profile(profile, directory / "profile.json")
    interrupted = any(job.interrupted for job in counted)
    document = _document(profile, fitted, interrupted=interrupted)
    write_json(directory / "summary.json", document)
    give_to_caller(made)
    if as_json:
        print_json(document)
    _print(fitted, demand)
    console.print(f"profile: {(directory / 'profile.json').resolve()}", soft_wrap=True)
    console.print(f"what the command wrote: {directory.resolve()}/*/*.log", soft_wrap=True)
    if interrupted:
        context.exit(INTERRUPTED)


def _file_name(rate_bps: float) -> str:
    return format_rate(rate_bps).replace(" ", "").replace("/", "p")


def _write_series(directory: Path, counted: CountedJob) -> None:
    """As ``demand fit`` reads it: bytes by interval, and the job's own iterations."""
    for host in counted.hosts:
        series = host.sent
        np.savetxt(
            directory / f"{host.server}.csv",
            np.column_stack((series.edges_s[1:], series.sent_bytes)),
            fmt=("%.6f", "%.0f"),
            delimiter=",",
            header="time_s,sent_bytes",
            comments="",
        )
    np.savetxt(
        directory / "iterations.csv",
        np.array([(span.start_s, span.end_s) for span in counted.iterations]),
        fmt="%.6f",
        delimiter=",",
        header="start_s,end_s",
        comments="",
    )


def _profile(model: str, demand: Demand, fitted: FittedJob) -> ModelProfile:
    job = fitted.counted.job
    return ModelProfile(
        model=model,
        num_gpus=job.hosts,
        demand=demand,
        provenance="measured",
        source=(
            f"fitted to {len(fitted.counted.iterations)} iterations of "
            f"{' '.join(job.command.argv)!r} on {job.hosts} emulated servers "
            f"with links of {format_rate(job.rate_bps)}"
        ),
        measured_iteration_s=fitted.timer.value,
    )


def _document(
    profile: ModelProfile, fitted: Sequence[FittedJob], *, interrupted: bool
) -> dict[str, object]:
    return {
        "profile": profile_document(profile),
        "interrupted": interrupted,
        "links": [
            {
                "rate_bps": job.counted.job.rate_bps,
                "timer_s": asdict(job.timer),
                "period_s": job.seen.period_s,
                "period_error": job.period_error,
                "verdict": job.counted.verdict.status.value,
                "seen": asdict(job.seen),
                "hosts": [
                    {
                        "server": host.server,
                        "counted_bytes": host.counted_bytes,
                        "port_bytes": host.port_bytes,
                        "packet_bytes": host.packet_bytes,
                        "disagreement": host.disagreement,
                        "lost_packets": count.lost_packets,
                        "fit": None if host.fit is None else asdict(host.fit),
                    }
                    for host, count in zip(job.hosts, job.counted.hosts, strict=True)
                ],
            }
            for job in fitted
        ],
    }


def _print(fitted: Sequence[FittedJob], demand: Demand) -> None:
    for job in fitted:
        table = plain_table(
            f"{format_rate(job.counted.job.rate_bps)}: an iteration takes "
            f"{format_duration(job.timer.value)}, and the bytes repeat every "
            f"{format_duration(job.seen.period_s)} ({job.period_error:+.2%})"
        )
        for heading in ("server", "data", "port", "packets", "diff.", "phases"):
            table.add_column(heading, justify="left" if heading == "server" else "right")
        for host in job.hosts:
            table.add_row(
                host.server,
                format_size(host.counted_bytes),
                format_size(host.port_bytes),
                format_size(host.packet_bytes),
                f"{host.disagreement:+.2%}",
                "none" if host.fit is None else str(len(host.fit.phases)),
            )
        console.print(table)
        print_warnings(_doubts(job))
    table = plain_table(f"the demand: {format_duration(demand.compute_s)} of compute")
    for heading in ("transfer", "ready", "bytes", "limit", "who", "compute"):
        table.add_column(heading, justify="left" if heading in ("transfer", "who") else "right")
    for transfer in demand.transfers:
        table.add_row(
            transfer.name,
            format_duration(transfer.ready_s),
            format_size(transfer.bytes),
            "link" if transfer.rate_limit_bps is None else format_rate(transfer.rate_limit_bps),
            ", ".join(f"{a} to {b}" for a, b in transfer.pairs) or transfer.pattern,
            "waits" if transfer.blocking else "goes on",
        )
    console.print(table)


def _doubts(job: FittedJob) -> list[str]:
    verdict = job.counted.verdict
    found = [
        f"the emulation is {verdict.status.value}: {invariant.name}"
        for invariant in verdict.invariants
        if not invariant.ok
    ]
    found += [
        f"{count.server}: {count.lost_packets:,} packets were not captured"
        for count in job.counted.hosts
        if count.lost_packets
    ]
    return found
