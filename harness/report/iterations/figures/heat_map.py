"""How busy every link of an arm is over time, as a heat map. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from harness.report.figures.figure import Figure, axis, layout, text
from harness.report.iterations.data import RunData
from harness.report.iterations.documents import ArmRead
from harness.report.thinning import Floats, lengths
from harness.report.words import counted, listed, number, percent, port_name, seconds

ROW, REST, LEAST_HEIGHT = 20, 84, 190
"""Heights in pixels."""

MOST_PORTS = 24
MOST_CELLS = 240
"""Of a port."""

# One hue from white to black: its order is seen without colours, and on paper.
_COLOURS = [[0.0, "#f2f6fa"], [0.5, "#5a9fd0"], [0.85, "#0b5f94"], [1.0, "#062438"]]


@dataclass(frozen=True)
class _Port:
    """share: of the capacity in each cell, none where nothing was sampled; mean: of all."""

    name: str
    share: Floats
    mean: float


def heat_map(run: RunData, arm: ArmRead) -> Figure | None:
    """Of the side that is there, the measurement first; None where no link was sampled."""
    for side, tables in run.sides:
        links = tables.links[tables.links["arm"] == arm.name]
        if len(links):
            return _figure(arm, side, links)
    return None


def _figure(arm: ArmRead, side: str, links: pd.DataFrame) -> Figure | None:
    until_s = float(links["t_s"].max())
    samples = int(links.groupby(["network", "port"])["t_s"].nunique().max())
    edges_s = np.linspace(0.0, until_s, min(samples, MOST_CELLS) + 1)
    ports = sorted(_ports(links, edges_s), key=lambda port: -port.mean)
    busy = [port for port in ports if port.mean > 0]
    drawn = busy[:MOST_PORTS]
    if not drawn:
        return None
    return Figure(
        name=f"heat-map_{arm.name}",
        title=f"{arm.name}: all links",
        caption=_caption(drawn, side),
        plot={"data": [_map(drawn, edges_s)], "layout": _layout(drawn, until_s)},
        table=pd.DataFrame(
            {"from_s": edges_s[:-1], "until_s": edges_s[1:]}
            | {f"{port.name} share": port.share for port in drawn}
        ),
        note=_note(edges_s, drawn, len(busy), len(ports)),
    )


def _ports(links: pd.DataFrame, edges_s: Floats) -> list[_Port]:
    """One for each port of each network: a dedicated arm has a network for each job."""
    several = links["network"].nunique() > 1
    by = ["network", "port", "t_s"]
    sums = links.groupby(by, observed=True).agg(
        rate_bps=("rate_bps", "sum"), capacity_bps=("capacity_bps", "first")
    )
    jobs = {str(network): own["job"].unique() for network, own in links.groupby("network")}
    found = []
    for (network, port), rows in sums.groupby(level=["network", "port"], observed=True):
        name = port_name(str(port))
        if several:
            name += f" ({listed([str(job) for job in jobs[str(network)] if job], 2)})"
        found.append(_port(name, rows, edges_s))
    return found


def _port(name: str, rows: pd.DataFrame, edges_s: Floats) -> _Port:
    """A sample is the load since the one before, and so counts in all cells that it reaches."""
    t_s = rows.index.get_level_values("t_s").to_numpy(dtype=float)
    length_s = lengths(t_s)
    times_s = np.concatenate((t_s[:1] - length_s[:1], t_s))
    carried, possible = (
        np.concatenate(([0.0], np.cumsum(rows[column].to_numpy(dtype=float) * length_s)))
        for column in ("rate_bps", "capacity_bps")
    )
    in_cell, room = (np.diff(np.interp(edges_s, times_s, total)) for total in (carried, possible))
    share = np.divide(in_cell, room, out=np.full(in_cell.size, np.nan), where=room > 0)
    return _Port(name, share, float(carried[-1] / max(possible[-1], 1.0)))


def _map(ports: list[_Port], edges_s: Floats) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "x": [float(f"{edge_s:.6g}") for edge_s in edges_s],
        "y": [text(port.name) for port in ports],
        "z": [
            [None if np.isnan(share) else float(f"{share * 100:.3g}") for share in port.share]
            for port in ports
        ],
        "zmin": 0,
        "zmax": 100,
        "colorscale": _COLOURS,
        "hoverongaps": False,
        "ygap": 1,
        "colorbar": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 1.0,
            "yanchor": "bottom",
            "len": 0.6,
            "thickness": 10,
            "tickvals": [0, 50, 100],
            "ticktext": ["idle", "50 %", "full"],
            "outlinewidth": 0,
        },
        "hovertemplate": "%{y}: %{z:.3g} % at %{x:.4g} s<extra></extra>",
    }


def _layout(ports: list[_Port], until_s: float) -> dict[str, Any]:
    return layout(
        max(REST + ROW * len(ports), LEAST_HEIGHT),
        margin={"l": 58, "r": 14, "t": 8, "b": 34},
        xaxis=axis("", range=[0, until_s], ticksuffix=" s", nticks=7, showgrid=False),
        yaxis=axis(
            "",
            autorange="reversed",
            type="category",
            ticks="",
            showgrid=False,
            tickfont={"size": 11},
        ),
    )


def _caption(ports: list[_Port], side: str) -> str:
    busiest = ports[0]
    foreseen = ", as predicted" if side == "predicted" else ""
    return (
        "Each row is a direction of a link, the darker the fuller: the busiest, "
        f"{busiest.name}, is {percent(busiest.mean)} full on average{foreseen}, and "
        f"{ports[-1].name}, the last drawn, {percent(ports[-1].mean)}."
    )


def _note(edges_s: Floats, drawn: list[_Port], busy: int, ports: int) -> str:
    found = [f"Each cell is a mean over {seconds(float(edges_s[1] - edges_s[0]))}."]
    if any(np.isnan(port.share).any() for port in drawn):
        found.append("Where it is white, nothing was sampled.")
    if busy > len(drawn):
        found.append(f"Of {number(busy)} directions the {len(drawn)} busiest are drawn.")
    if ports > busy:
        idle = counted(ports - busy, "direction was", "directions were")
        found.append(f"{idle} idle and not drawn.")
    return " ".join(found)
