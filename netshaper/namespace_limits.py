"""What may keep a user from making namespaces on this machine, and what to do about each of it."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_MOST = ("user.max_user_namespaces", "user.max_net_namespaces", "user.max_mnt_namespaces")
_SWITCHES = {
    "kernel.unprivileged_userns_clone": ("0", "1"),  # Debian, Ubuntu
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),  # Ubuntu from 23.10 on
}
"""Setting -> the value that forbids, the value that allows."""

_OTHERWISE = "run the command with sudo, without --rootless"


@dataclass(frozen=True)
class NamespaceLimits:
    """What was found here.

    settings: of /proc/sys, by name, those that this kernel has. filtered: a filter of system calls
    is on this process (seccomp, as in most containers).
    """

    settings: Mapping[str, str]
    filtered: bool


def read_limits() -> NamespaceLimits:
    """Look at this machine."""
    settings = {}
    for name in (*_MOST, *_SWITCHES):
        with contextlib.suppress(OSError):  # this kernel has no such setting
            settings[name] = Path("/proc/sys", *name.split(".")).read_text().strip()
    return NamespaceLimits(settings, "Seccomp:\t2" in Path("/proc/self/status").read_text())


def remedy(error_number: int | None, limits: NamespaceLimits) -> str:
    """What to do about a refusal with ``error_number``; names only what was found. Pure."""
    settings = limits.settings
    if error_number == errno.ENOSPC:
        none = [name for name in _MOST if settings.get(name) == "0"]
        if none:
            return _as_root([f"{name}=10000" for name in none])
        found = ", ".join(f"{name} is {settings[name]}" for name in _MOST if name in settings)
        return f"as many are in use as may be; as root, raise what is too low ({found})"
    forbidding = {
        name: allows
        for name, (forbids, allows) in _SWITCHES.items()
        if settings.get(name) == forbids
    }
    if forbidding:
        return _as_root([f"{name}={allows}" for name, allows in forbidding.items()])
    if limits.filtered:
        return (
            "a seccomp filter is on this process, as in a container: allow unshare and mount in it "
            f"(docker run --security-opt seccomp=unconfined), or {_OTHERWISE}"
        )
    return f"no setting that forbids it was found; {_OTHERWISE}"


def _as_root(assignments: list[str]) -> str:
    return f"as root: sysctl -w {' '.join(assignments)}; or {_OTHERWISE}"
