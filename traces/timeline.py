"""A run as a Chrome trace (Trace Event Format), which Perfetto opens."""

from __future__ import annotations

from collections.abc import Sequence

from traces.results import EventRow, IterationRow


def chrome_trace(
    rows: Sequence[IterationRow], changes: Sequence[EventRow] = ()
) -> dict[str, object]:
    """One process an arm, one thread a job; each iteration with its communication inside.

    changes: of links, each an instant of its arm.
    """
    arms = list(dict.fromkeys(row.arm for row in rows))
    jobs = list(dict.fromkeys(row.job for row in rows))
    events: list[dict[str, object]] = []
    for number, arm in enumerate(arms, start=1):
        events.append(_name("process_name", arm, number, 0))
        events += [_name("thread_name", job, number, jobs.index(job) + 1) for job in jobs]
    for row in rows:
        place = {"pid": arms.index(row.arm) + 1, "tid": jobs.index(row.job) + 1, "ph": "X"}
        whole = {"name": f"iteration {row.iteration}", "cat": "iteration"}
        events.append({**place, **whole, **_span_us(row.start_s, row.end_s)})
        if row.communication_start_s < row.end_s:
            part = {"name": "communication", "cat": "communication"}
            events.append({**place, **part, **_span_us(row.communication_start_s, row.end_s)})
    for change in changes:
        if change.arm in arms:
            place = {"pid": arms.index(change.arm) + 1, "ph": "i", "s": "p"}
            name = f"{change.network}: {change.event}"
            at = {"ts": round(change.done_s * 1e6, 3)}
            events.append({**place, "name": name, "cat": "event", **at})
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _name(kind: str, name: str, process: int, thread: int) -> dict[str, object]:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}


def _span_us(start_s: float, end_s: float) -> dict[str, float]:
    return {"ts": round(start_s * 1e6, 3), "dur": round((end_s - start_s) * 1e6, 3)}
