"""Runs every check of a version of cgroups inside the guest and writes what each saw.

``python -m tests.guest.inside DIRECTORY VERSION``, to report.json in the directory. A check asserts
nothing: the tests outside do, on what it saw. The report is written after every check, so that a
hang loses only its own.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.guest.inside import (
    cgroup_checks,
    kernel_checks,
    limit_checks,
    marking_checks,
    mounts,
    network_checks,
    point_checks,
    rounds_checks,
    run_checks,
)

_Checks = tuple[tuple[str, Callable[[], Any]], ...]

_V2: _Checks = (
    ("kernel", kernel_checks.identity),
    ("modules", kernel_checks.modules),
    ("unified", mounts.mount_v2),
    ("v2 groups", cgroup_checks.groups),
    ("v2 nested", cgroup_checks.nested_caller),
    ("network", network_checks.network),
    ("queue of all", network_checks.shared_queue),
    ("marking", network_checks.marking),
    ("run", run_checks.whole_run),
    ("killed run", run_checks.killed_run),
    ("marked run", marking_checks.marked_run),
    ("v2 limits", limit_checks.limits),
    ("v2 handed on", limit_checks.handed_on),
    ("v2 limits nested", limit_checks.caller_in_a_group),
    ("v2 smaller parent", limit_checks.smaller_parent),
    ("v2 killed owner", limit_checks.killed_owner),
    ("v2 points", point_checks.points),
    ("v2 rounds", rounds_checks.emulated_rounds),
)

_V1: _Checks = (
    ("legacy", mounts.mount_v1),
    ("v1 groups", cgroup_checks.groups),
    ("v1 cpuset", cgroup_checks.cpuset),
    ("v1 session", run_checks.session),
    ("v1 limits", limit_checks.limits),
    ("v1 killed owner", limit_checks.killed_owner),
    ("v1 points", point_checks.points),
)


def main(directory: Path, checks: _Checks) -> None:
    """Run the checks in their order."""
    report: dict[str, Any] = {}
    for name, check in checks:
        begun_s = time.monotonic()
        entry: dict[str, Any] = {}
        try:
            entry["saw"] = check()
        except BaseException:
            entry["error"] = traceback.format_exc()
        entry["took_s"] = round(time.monotonic() - begun_s, 2)
        report[name] = entry
        print(f"check {name}: {entry['took_s']} s", flush=True)
        partial = directory / "report.json.new"
        partial.write_text(json.dumps(report, indent=1, default=str))
        partial.replace(directory / "report.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]), {"1": _V1, "2": _V2}[sys.argv[2]])
