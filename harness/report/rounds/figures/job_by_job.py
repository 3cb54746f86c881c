"""Completion times job by job, simulated over emulated, and how far apart they are. Pure."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harness.report.figures.figure import MUTED, Figure, axis, layout, numbers, text
from harness.report.rounds.data import RunData
from harness.report.rounds.emulated_data import EmulatedData
from harness.report.rounds.figures.looks import point_of
from harness.report.rounds.figures.time_axis import log_time_axis
from harness.report.thinning import MAX_POINTS, evenly, evenly_note
from harness.report.words import NOTHING, counted, long_time_unit, percent, sentence, signed_percent

HEIGHT = 500

_TIMES, _ERRORS = (0.36, 1.0), (0.0, 0.26)
"""Where the two panels begin and end, as shares of the height."""

_SIZE = 7.0
_MOST_TICKS = 5
"""The figure is half as wide as the page."""


def job_by_job(run: RunData) -> Figure | None:
    """Jobs of all arms and seeds; None where none that counts ended on both sides."""
    if run.emulated is None or (pairs := run.emulated.pairs).empty:
        return None
    drawn = {
        (index, arm.name): _thinned(own, MAX_POINTS // len(run.summary.arms))
        for index, arm in enumerate(run.summary.arms)
        if len(own := pairs[pairs["arm"] == arm.name])
    }
    table = pd.concat(drawn.values(), ignore_index=True)
    times_s = table[["emulated_s", "simulated_s"]].to_numpy(dtype=float)
    ends_s = float(times_s.min()), float(times_s.max())
    unit = long_time_unit(ends_s[1])
    points = [
        trace for (index, name), rows in drawn.items() for trace in _points(rows, index, name, unit)
    ]
    return Figure(
        name="job-by-job",
        title="Completion time of each job",
        caption=_caption(pairs),
        plot={
            "data": [_agreement(ends_s, unit[0]), *points],
            "layout": layout(
                HEIGHT,
                xaxis=log_time_axis("emulated (log)", ends_s, unit, _MOST_TICKS) | {"anchor": "y2"},
                yaxis=log_time_axis("simulated (log)", ends_s, unit, _MOST_TICKS)
                | {"domain": _TIMES},
                yaxis2=axis(
                    "error (%)",
                    domain=_ERRORS,
                    nticks=5,
                    zeroline=True,
                    zerolinecolor=MUTED,
                ),
            ),
        },
        table=table,
        note=_note(run.emulated, len(table), len(pairs)),
    )


def _thinned(pairs: pd.DataFrame, at_most: int) -> pd.DataFrame:
    return pairs.iloc[evenly(pairs["error"].to_numpy(dtype=float), at_most)]


def _agreement(ends_s: tuple[float, float], factor: float) -> dict[str, Any]:
    ends = numbers([end_s * factor for end_s in ends_s])
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "as long on both sides",
        "x": ends,
        "y": ends,
        "line": {"color": MUTED, "width": 1.4, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _points(
    rows: pd.DataFrame, index: int, name: str, unit: tuple[float, str]
) -> list[dict[str, Any]]:
    """Of one arm, in both panels."""
    factor, unit_name = unit
    several = rows["seed"].nunique() > 1
    shared = {
        "type": "scatter",
        "mode": "markers",
        "name": text(name),
        "legendgroup": text(name),
        "x": numbers(rows["emulated_s"] * factor),
        "marker": point_of(index, _SIZE),
        "text": [_label(row, several=several) for _, row in rows.iterrows()],
    }
    times = {
        "y": numbers(rows["simulated_s"] * factor),
        "hovertemplate": f"%{{text}}: %{{y:.3g}} {unit_name} simulated, "
        f"%{{x:.3g}} {unit_name} emulated",
    }
    errors = {
        "y": numbers(rows["error"] * 100),
        "yaxis": "y2",
        "showlegend": False,
        "hovertemplate": "%{text}",
    }
    return [shared | times, shared | errors]


def _label(row: pd.Series[Any], *, several: bool) -> str:
    seed = f", seed {row['seed']}" if several else ""
    model = NOTHING if pd.isna(row["model"]) else row["model"]
    return text(f"job {row['job']}{seed}, {model}, {signed_percent(float(row['error']))}")


def _caption(pairs: pd.DataFrame) -> str:
    """How far jobs are from the line, and which one is the farthest."""
    sizes = pairs["error"].abs()
    farthest = pairs.iloc[int(sizes.argmax())]
    return sentence(
        "above the dashed line, the simulation takes longer than the emulation: half of the jobs "
        f"are at most {percent(float(sizes.median()))} apart, 95 in 100 at most "
        f"{percent(float(sizes.quantile(0.95)))}, and job {farthest['job']} with "
        f"{farthest['arm']} is the farthest off, {signed_percent(float(farthest['error']))}"
    )


def _note(emulated: EmulatedData, drawn: int, pairs: int) -> str:
    found = [evenly_note(drawn, pairs, "job", "error")]
    if one_sided := len(emulated.times) - 2 * pairs:
        jobs = counted(one_sided, "job that ended", "jobs that ended")
        found.append(f"Without {jobs} on one side only.")
    return " ".join(filter(None, found))
