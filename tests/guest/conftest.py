"""Tests in a guest with Debian's stock kernel, without KVM: a boot for each version of cgroups.

A machine that cannot boot one skips them, and says why.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.guest.boot import QEMU, VIRTME, boot
from tests.guest.stock_kernel import NoKernelError, cached_kernel

_TOOLS = {
    QEMU: "qemu-system-x86",
    "apt-get": "apt",
    "dpkg": "dpkg",
    "depmod": "kmod",
}
_CONSOLE_LINES = 40

Observed = Callable[[str], Any]
"""Name of a check -> what it saw inside the guest."""


def _why_not() -> str | None:
    if os.geteuid() != 0:
        return "needs root"
    if not VIRTME.exists():
        return "needs virtme-ng, one of the test extra's packages"
    absent = [package for tool, package in _TOOLS.items() if shutil.which(tool) is None]
    return f"needs the packages {', '.join(absent)}" if absent else None


@pytest.fixture(scope="session")
def guest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """All that both guests reported, by check, and their consoles."""
    reason = _why_not()
    if reason is not None:
        pytest.skip(reason)
    try:
        kernel = cached_kernel()
    except NoKernelError as error:
        pytest.skip(str(error))
    console, checks = "", {}
    for version in (1, 2):
        output: Path = tmp_path_factory.mktemp(f"guest-v{version}-")
        console += boot(kernel, output, version)
        report = output / "report.json"
        checks |= json.loads(report.read_text()) if report.exists() else {}
    return {"console": console, "checks": checks}


@pytest.fixture
def observed(guest: dict[str, Any]) -> Observed:
    """What a check saw; a test fails here where the check did not come to its end."""

    def find(name: str) -> Any:
        found = guest["checks"].get(name)
        if found is None:
            tail = "\n".join(guest["console"].splitlines()[-_CONSOLE_LINES:])
            pytest.fail(f"the guest did not come to {name}; the last of its console:\n{tail}")
        if "error" in found:
            pytest.fail(f"{name} raised inside the guest:\n{found['error']}")
        return found["saw"]

    return find
