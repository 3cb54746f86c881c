"""What a person sees of a simulated scenario of rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from harness.cli.show import console, plain_table, print_verdicts, verdict_words

_S_PER_H = 3600.0
_INCIDENTS_NAMED = 10


def print_rounds(summary: dict[str, Any]) -> None:
    """One row an arm, then what was left out or is to be known."""
    console.print(_table(summary))
    for remark in dict.fromkeys(_remarks(summary)):
        console.print(remark, style="yellow")


def print_emulated_rounds(summary: dict[str, Any]) -> None:
    """One row an arm: emulated beside simulated; then what there is to know of the emulation."""
    console.print(_emulated_table(summary))
    arms = [arm for arm in summary["arms"] if arm["emulated"]]
    print_verdicts({arm["name"]: arm["emulated"]["verdict"] for arm in arms})
    incidents = [(arm["name"], each) for arm in arms for each in arm["emulated"]["incidents"]]
    for name, incident in incidents[:_INCIDENTS_NAMED]:
        console.print(f"{name}: {incident}", style="yellow", markup=False)
    if len(incidents) > _INCIDENTS_NAMED:
        console.print(f"... and {len(incidents) - _INCIDENTS_NAMED} more incidents", style="yellow")
    for remark in dict.fromkeys(_remarks(summary)):
        console.print(remark, style="yellow")


def _emulated_table(summary: dict[str, Any]) -> Table:
    table = plain_table(f"{summary['scenario']}: job completion time in h, emulated and simulated")
    table.add_column("arm", no_wrap=True)
    headings = ("mean\nemulated", "mean\nsimulated", "diff.", "per job\n|diff.|", "p95", "speed-up")
    for heading in headings:
        table.add_column(heading, justify="right")
    table.add_column("verdict")
    first = _emulated_mean(summary["arms"][0]) if summary["arms"] else None
    for arm in summary["arms"]:
        mean, emulated = _emulated_mean(arm), arm["emulated"]
        errors = emulated["errors"] if emulated else None
        table.add_row(
            arm["name"],
            "-" if mean is None else f"{mean / _S_PER_H:.2f}",
            f"{errors['simulated_mean_s'] / _S_PER_H:.2f}" if errors else "-",
            f"{errors['mean_error']:+.1%}" if errors else "-",
            f"{errors['mape']:.1%}" if errors else "-",
            f"{errors['p95']:.1%}" if errors else "-",
            f"{first / mean:.2f}" if first and mean else "-",
            verdict_words(emulated["verdict"]["status"]) if emulated else "-",
        )
    return table


def _emulated_mean(arm: dict[str, Any]) -> float | None:
    """Over the jobs that count, seeds together; None before all of them have ended."""
    runs = arm["emulated"]["runs"] if arm["emulated"] else []
    means = [
        run["jct_s"]["all"]["mean"]
        for run in runs
        if run["jobs"]["counted_and_finished"] == run["jobs"]["counted"]
    ]
    return sum(means) / len(means) if means and len(means) == len(runs) else None


def _table(summary: dict[str, Any]) -> Table:
    seeds = len(summary["seeds"])
    over = f", over {seeds} seeds with 95 % intervals" if seeds > 1 else ""
    table = plain_table(f"{summary['scenario']}: job completion time in h{over}")
    table.add_column("arm", no_wrap=True)
    for heading in ("mean", "p99", "short\nmean", "long\nmean", "load", "GPUs\nused", "speed-up"):
        table.add_column(heading, justify="right")
    for arm in summary["arms"]:
        table.add_row(
            arm["name"],
            *(
                _interval(arm[key], _S_PER_H)
                for key in ("jct_mean_s", "jct_p99_s", "short_jct_mean_s", "long_jct_mean_s")
            ),
            _mean_of(arm, "load", "{:.2f}"),
            _mean_of(arm, "gpu_utilisation", "{:.0%}"),
            _interval(arm["speedup"], 1.0),
        )
    return table


def _interval(interval: dict[str, Any] | None, unit: float) -> str:
    if interval is None:
        return "-"
    value = f"{interval['value'] / unit:.2f}"
    if interval["low"] is None:
        return value
    low, high = interval["low"] / unit, interval["high"] / unit
    return f"{value}\n{low:.2f}-{high:.2f}" if low >= 0 else f"{value}\n{low:.2f} to {high:.2f}"


def _mean_of(arm: dict[str, Any], key: str, form: str) -> str:
    values = [run[key] for run in arm["runs"] if run[key] is not None]
    return form.format(sum(values) / len(values)) if values else "-"


def _remarks(summary: dict[str, Any]) -> Iterator[str]:
    """Jobs that were left out, rules that were applied, and jobs that did not end."""
    for arm in summary["arms"]:
        for run in arm["runs"]:
            jobs = run["jobs"]
            for refusal in jobs["refused"]:
                yield (
                    f"{arm['name']}: {_jobs(refusal['count'])} left out: {refusal['reason']} "
                    f"({refusal['where']})"
                )
            yield from jobs["notes"]
            if jobs["reordered"]:
                yield f"{_jobs(jobs['reordered'])} of the trace put in order of submission"
            if jobs["counted_and_finished"] < jobs["counted"]:
                yield (
                    f"{arm['name']}, seed {run['seed']}: {jobs['counted_and_finished']} of "
                    f"{jobs['counted']} jobs that count have ended"
                )
    if summary["interrupted"]:
        yield "The run was interrupted; what was simulated until then is kept."


def _jobs(count: int) -> str:
    return f"{count} job" if count == 1 else f"{count} jobs"
