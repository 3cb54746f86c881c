"""Switches that mark, in a whole run: with ``red``, and with DCTCP, which few kernels have."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

from tests.guest.inside.command import Command
from tests.guest.inside.worker_watch import watch_servers
from tests.kernel.machine import leftovers

_SCENARIO = """\
name: guest
cluster: {preset: dumbbell, servers_left: 2, servers_right: 2, rate: 50 Gbit/s}
scale: {rate_divisor: 5000}
workload:
  iterations: 4
  warmup_iterations: 1
  jobs:
    - {id: one, profile: vgg19, servers: [left0, right0]}
    - {id: two, profile: vgg19, servers: [left1, right1]}
transport: {ecn_threshold: 10 kB}
arms:
  cubic: {}
  dctcp:
    transport: {congestion_control: dctcp}
"""
_SERVERS = 4


def marked_run() -> dict[str, Any]:
    """Without root no eBPF program may be loaded, which leaves ``red``."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        scenario, output = place / "scenario.yaml", place / "out"
        scenario.write_text(_SCENARIO)
        words = ("emulate", str(scenario), "-o", str(output), "--run-id", "guestmark", "--json")
        run = Command(place, "marked", words, rootless=True)
        seen = watch_servers(run, place / "state", _SERVERS)
        run.join()
        return {
            "exit": run.exit,
            "said": run.said(),
            "summary": run.printed(),
            "marks": _marks(output) if run.exit == 0 else [],
            "received_marks": [each.received_marks() for each in seen],
            "congestion_controls": [sorted(each.congestion_controls) for each in seen],
            "left": leftovers("guestmark", place / "state"),
        }


def _marks(directory: Path) -> list[dict[str, Any]]:
    """Marked packets by arm, port and job."""
    links = pd.read_parquet(directory / "links.parquet")
    sums = links.groupby(["arm", "port", "job"])["marked_packets"].sum()
    return [
        {"arm": arm, "port": port, "job": job, "marked_packets": int(sums[arm, port, job])}
        for arm, port, job in sums.index
    ]
