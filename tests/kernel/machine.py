"""What of Roundelay is on this machine, found by looking, not by asking Roundelay."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

STRANGER = "rl-eth"
"""Begins the names of devices that look like a run's, and are not."""


def namespaces(fragment: str) -> list[str]:
    """Network namespaces with ``fragment`` in their names."""
    done = subprocess.run(("ip", "netns", "list"), capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines() if fragment in line]


def cgroups(fragment: str) -> list[Path]:
    """cgroups with ``fragment`` in their names, in every hierarchy."""
    found = []
    for directory, names, _ in os.walk("/sys/fs/cgroup"):
        found += [Path(directory, name) for name in names if fragment in name]
    return found


def processes(fragment: str) -> list[int]:
    """Processes whose command line or environment's state directory names ``fragment``."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if fragment.encode() in text:
                found.append(int(entry.name))
    return found


def host_links() -> set[str]:
    """Devices of the host's namespace, but for the strangers that a test may have put there."""
    names = {path.name for path in Path("/sys/class/net").iterdir()}
    return {name for name in names if not name.startswith(STRANGER)}


def leftovers(run_id: str, state_directory: Path) -> dict[str, object]:
    """Everything of a run that is still there; empty values all round mean that nothing is."""
    record = state_directory / run_id
    return {
        "namespaces": namespaces(run_id),
        "cgroups": cgroups(run_id),
        "processes": processes(str(state_directory)),
        "files": list(record.rglob("*")) if record.exists() else [],
    }
