"""Which job holds which GPU, and when: the first servers of an arm, a row a GPU. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from harness.report.figures.figure import (
    PALETTE,
    SHARED,
    Figure,
    axis,
    colour,
    layout,
    numbers,
    text,
)
from harness.report.rounds.data import RunData
from harness.report.rounds.documents import ArmRead
from harness.report.rounds.leases import ShownLeases
from harness.report.words import counted, duration, long_time_unit, number, percent, sentence
from traces.rounds_timeline import with_gpus

ROW, REST = 13, 130
"""Heights in pixels."""

MOST_ROWS = 64
"""More than there are GPUs, for the rows of fractions of GPUs."""

_NO_MODEL, _OTHERS = "no model", "other models"


@dataclass(frozen=True)
class _Rows:
    """bars: one for each GPU of a lease: ``row``, ``from_s``, ``until_s``, ``kind``, ``words`` and
    what is in the table. servers: from which row on each one's are; rows: how many there are, and
    beyond them, how many there is no room for."""

    bars: pd.DataFrame
    servers: list[int]
    rows: int
    beyond: int


def gpu_timelines(run: RunData) -> list[Figure]:
    """One for each arm with leases on the first servers, with its first seed."""
    shown = run.leases.shown
    models = [str(model) for each in shown.values() for model in _models(each)]
    told = sorted(model for model, _ in Counter(models).most_common(len(PALETTE)))
    return [_timeline(arm, shown[arm.name], told) for arm in run.summary.arms if arm.name in shown]


def _timeline(arm: ArmRead, shown: ShownLeases, told: Sequence[str]) -> Figure:
    """told: the models that have a colour, the same in all arms."""
    found = _rows(arm, shown, told)
    unit = long_time_unit(shown.until_s)
    columns = ["seed", "job", "model", "server", "gpu", "from_s", "until_s"]
    return Figure(
        name=f"gpu-timeline_{arm.name}",
        title=f"{arm.name}: who holds which GPU",
        caption=_caption(found, shown),
        plot={
            "data": [
                _bars(own, kind, SHARED if kind == _OTHERS else colour(index), unit)
                for index, kind in enumerate([*told, _OTHERS])
                if len(own := found.bars[found.bars["kind"] == kind])
            ],
            "layout": _layout(found, shown, unit),
        },
        table=found.bars.assign(seed=arm.runs[0].seed)[columns],
        note=_note(arm, shown, found.beyond),
    )


def _models(shown: ShownLeases) -> pd.Series[str]:
    return shown.rows["model"].fillna(_NO_MODEL).astype(str)


def _rows(arm: ArmRead, shown: ShownLeases, told: Sequence[str]) -> _Rows:
    """Servers below each other, and as many rows for each as it has GPUs."""
    models = _models(shown)
    placed = list(with_gpus(shown.rows.assign(kind=models.where(models.isin(told), _OTHERS))))
    gpus = [servers.gpus for servers in arm.cluster for _ in range(servers.count)]
    starts, rows = [], 0
    for server in range(shown.servers):
        starts.append(rows)
        # What has fractions of GPUs takes more rows than there are GPUs.
        used = (max(own) + 1 for lease, own in placed if lease.server == server)
        rows += max(gpus[server], *used, 1)
    bars = [
        {
            "row": starts[int(lease.server)] + gpu,
            "job": str(lease.job),
            "model": "" if pd.isna(lease.model) else str(lease.model),
            "kind": str(lease.kind),
            "server": int(lease.server),
            "gpu": gpu,
            "from_s": max(float(lease.from_s), shown.from_s),
            "until_s": min(float(lease.until_s), shown.until_s),
            "words": _words(lease),
        }
        for lease, own in placed
        for gpu in own
        if starts[int(lease.server)] + gpu < MOST_ROWS
    ]
    drawn = min(rows, MOST_ROWS)
    return _Rows(
        pd.DataFrame(bars), [start for start in starts if start < drawn], drawn, rows - drawn
    )


def _words(lease: Any) -> str:
    gpus = f"{number(float(lease.gpus))} {'GPU' if lease.gpus == 1 else 'GPUs'}"
    held = duration(float(lease.until_s) - float(lease.from_s))
    model = _NO_MODEL if pd.isna(lease.model) else lease.model
    cpus = number(float(lease.cpus))
    return text(f"job {lease.job}, {model}: {gpus} and {cpus} CPUs for {held}")


def _bars(own: pd.DataFrame, kind: str, tint: str, unit: tuple[float, str]) -> dict[str, Any]:
    factor, _ = unit
    return {
        "type": "bar",
        "orientation": "h",
        "name": text(kind),
        "y": [int(row) for row in own["row"]],
        "base": numbers(own["from_s"] * factor),
        "x": numbers((own["until_s"] - own["from_s"]) * factor),
        "width": 0.92,
        "text": own["words"].tolist(),
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "marker": {
            "color": tint,
            "line": {"color": "#ffffff", "width": 0.7},
        },
    }


def _layout(found: _Rows, shown: ShownLeases, unit: tuple[float, str]) -> dict[str, Any]:
    factor, unit_name = unit
    ends = [*found.servers[1:], found.rows]
    middles = [(first + end - 1) / 2 for first, end in zip(found.servers, ends, strict=True)]
    return layout(
        REST + ROW * found.rows,
        barmode="overlay",
        bargap=0,
        showlegend=True,
        xaxis=axis(
            "time since the trace began",
            range=[shown.from_s * factor, shown.until_s * factor],
            ticksuffix=f" {unit_name}",
            nticks=6,
        ),
        yaxis=axis(
            "",
            range=[found.rows - 0.5, -0.5],
            tickvals=middles,
            ticktext=[f"server {number}" for number in range(len(middles))],
            ticks="",
            showgrid=False,
        ),
        shapes=_edges(found.servers[1:]),
    )


def _edges(rows: Sequence[int]) -> list[dict[str, Any]]:
    """Between servers."""
    return [
        {
            "type": "line",
            "xref": "x domain",
            "yref": "y",
            "x0": 0,
            "x1": 1,
            "y0": row - 0.5,
            "y1": row - 0.5,
            "line": {"color": "#b9c2cb", "width": 1},
        }
        for row in rows
    ]


def _caption(found: _Rows, shown: ShownLeases) -> str:
    bars = found.bars
    held_s = float((bars["until_s"] - bars["from_s"]).sum())
    share = held_s / ((shown.until_s - shown.from_s) * found.rows)
    return sentence(
        "each row is a GPU and each bar a job that holds it, coloured by its model; a gap is a GPU "
        f"that nobody holds, and jobs hold these {number(found.rows)} for {percent(share)} of the "
        "time"
    )


def _note(arm: ArmRead, shown: ShownLeases, beyond: int) -> str:
    servers = sum(servers.count for servers in arm.cluster)
    drawn = counted(len(shown.rows), "lease", "leases")
    which = (
        f"the first {number(shown.servers)} of {number(servers)} servers"
        if shown.servers < servers
        else "all servers"
    )
    window = f"{duration(shown.from_s)} to {duration(shown.until_s)}"
    found = [
        f"Drawn are {drawn} of {number(shown.of)}, those on {which} from {window}.",
        "Which of the GPUs of a server a job holds is not recorded: it keeps those that it has.",
    ]
    if (shown.rows["gpus"] % 1 > 0).any():
        found.append("A fraction of a GPU has a row of its own.")
    if beyond:
        found.append(f"There is no room for {counted(beyond, 'more row', 'more rows')}.")
    return " ".join(found)
