"""Where a result comes from: versions, inputs, machine."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

_PACKAGES = ("roundelay", "numpy", "pandas", "pyarrow", "networkx", "pydantic", "plotly")


def provenance(scenario_text: str, seed: int, run_id: str | None = None) -> dict[str, object]:
    """The document provenance.json, made when the results are written."""
    return {
        "finished_utc": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "run_id": run_id,
        "seed": seed,
        "scenario_sha256": hashlib.sha256(scenario_text.encode()).hexdigest(),
        "versions": {name: importlib.metadata.version(name) for name in _PACKAGES}
        | {"python": platform.python_version(), "iproute2": _iproute2_version()},
        "machine": {
            "kernel": platform.release(),
            "architecture": platform.machine(),
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        },
    }


def _iproute2_version() -> str | None:
    try:
        text = subprocess.run(("ip", "-V"), capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return None
    found = re.search(r"iproute2-(\S+?),?\s", text + " ")
    return found[1] if found else text.strip()


def cpu_model() -> str | None:
    """What the processor calls itself, where it does."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return None
