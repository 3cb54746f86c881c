"""Which kernel this is, and which of its modules load."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

_MODULES = ("sch_red", "sch_netem", "tcp_dctcp")


def identity() -> dict[str, str]:
    """Release of the kernel and version of iproute2."""
    tool = subprocess.run(("ip", "-V"), capture_output=True, text=True, check=True)
    return {"release": platform.release(), "ip": tool.stdout.strip()}


def modules() -> dict[str, object]:
    """Whether each module loads, and what then can be used."""
    loaded = {}
    for name in _MODULES:
        subprocess.run(("modprobe", name), check=False)
        loaded[name] = Path("/sys/module", name).is_dir()
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    return {"loaded": loaded, "congestion_control": available}
