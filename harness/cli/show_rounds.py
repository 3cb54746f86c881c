"""What a person sees of a simulated scenario of rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.table import Table

from harness.cli.show import console, plain_table

_S_PER_H = 3600.0


def print_rounds(summary: dict[str, Any]) -> None:
    """One row an arm, then what was left out or is to be known."""
    console.print(_table(summary))
    for remark in dict.fromkeys(_remarks(summary)):
        console.print(remark, style="yellow")


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
