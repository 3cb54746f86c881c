"""A run changes no interface, address, route, setting or rule of the host's own namespace."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.kernel.command import short_example, start, wait_until
from tests.kernel.machine import leftovers, namespaces

RUN_ID = "t3sthost"
NOTHING: dict[str, object] = {"namespaces": [], "cgroups": [], "processes": [], "files": []}

LISTS = {
    "links": ("link", "show"),
    "addresses": ("address", "show"),
    "routes": ("-4", "route", "show", "table", "all"),
    "routes of IPv6": ("-6", "route", "show", "table", "all"),
    "rules": ("rule", "show"),
    "neighbours": ("-4", "neighbour", "show", "nud", "permanent"),
}

# What changes by itself: time that passes, and a count of what the box does.
PASSING = {"valid_life_time", "preferred_life_time", "expires", "used"}
COUNT = "net.netfilter.nf_conntrack_count "


def _said(*argv: str) -> str:
    # sysctl fails for the few settings that can only be written; what it read is there.
    return subprocess.run(argv, capture_output=True, text=True, check=argv[0] != "sysctl").stdout


def _lasting(document: Any) -> Any:
    """``document`` without what changes as time passes."""
    if isinstance(document, list):
        return [_lasting(each) for each in document]
    if isinstance(document, dict):
        return {name: _lasting(value) for name, value in document.items() if name not in PASSING}
    return document


def _host() -> dict[str, Any]:
    """What the host's namespace holds, by what it is."""
    found: dict[str, Any] = {
        name: _lasting(json.loads(_said("ip", "-json", *words) or "[]"))
        for name, words in LISTS.items()
    }
    settings = _said("sysctl", "-a", "--pattern", "^net\\.").splitlines()
    found["settings"] = [line for line in settings if not line.startswith(COUNT)]
    found["queues"] = _said("tc", "qdisc", "show")
    if shutil.which("nft") is not None:
        found["nftables"] = _said("nft", "list", "ruleset")
    return found


def test_the_host_is_the_same_before_during_and_after_a_run(
    tmp_path: Path, state_directory: Path
) -> None:
    scenario = short_example(tmp_path, iterations=2)
    before = _host()
    assert before["links"]
    assert len(before["settings"]) > 100
    run = start("run", scenario, "-o", tmp_path / "out", "--run-id", RUN_ID)
    looks = 0
    wait_until(lambda: namespaces(f"{RUN_ID}-"), "the first namespace")
    while run.poll() is None:
        assert _host() == before
        looks += 1
    _, said = run.communicate(timeout=60)
    assert run.returncode == 0, said
    assert looks > 3
    assert _host() == before
    assert leftovers(RUN_ID, state_directory) == NOTHING
