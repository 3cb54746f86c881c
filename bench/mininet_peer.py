"""Mininet as a peer: its networks, inside namespaces that belong to a run of ours."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emulator.session import Session
from netshaper.apply import existing_namespaces, remove_namespaces, run_commands
from netshaper.plan import Command, namespace_name
from traces.cluster import Cluster

MOST_RATE_BPS = 1e9
"""Above it Mininet's TCIntf says that it ignores the limit, and the link has none."""

_PYTHON = "/usr/bin/python3"  # the package is of the system's Python, whatever runs this
_TOOLS = ("mnexec", "brctl", "ifconfig", "ethtool")
_DRIVER = Path(__file__).with_name("mininet_driver.py")
_TIMEOUT_S = 120.0


@dataclass
class PeerNetwork:
    """A network that stands; remove_s is known once it is gone.

    hosts: of each server, its namespace and its address.
    """

    build_s: float
    hosts: dict[str, tuple[str, str]] = field(default_factory=dict)
    remove_s: float | None = None


def why_absent() -> str | None:
    """What Mininet lacks here; None where it can run."""
    lacking = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if lacking:
        return f"{', '.join(lacking)} not found"
    try:
        argv = (_PYTHON, "-c", "import mininet.net")
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return f"{_PYTHON} not found"
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


@contextlib.contextmanager
def peer_network(
    session: Session, cluster: Cluster, rate_divisor: float, *, loops: bool
) -> Iterator[PeerNetwork]:
    """``cluster`` as Mininet builds it: a LinuxBridge a switch and a TCLink a link.

    loops: whether bridges need a spanning tree. Its hosts' namespaces have names of the run while
    it stands, so that connections can be opened in them.
    """
    root = namespace_name(session.state.run_id, "mn", "root")
    session.state.claim_namespaces((root,), existing_namespaces())
    run_commands([Command("ip", ("netns", "add", root))])
    try:
        with tempfile.TemporaryFile("w+") as log:
            argv = ("ip", "netns", "exec", root, _PYTHON, str(_DRIVER))
            pipe = subprocess.PIPE
            driver = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=log, text=True)
            try:
                # Its shells end with it, for it holds their terminals.
                session.state.claim_process(driver.pid)
                names = _short_names(cluster)
                _tell(driver, _asked(cluster, names, rate_divisor, loops=loops))
                answer = _answer(driver, log)
                network = PeerNetwork(answer["build_s"])
                with _named(session, cluster, names, answer) as hosts:
                    network.hosts = hosts
                    yield network
                _tell(driver, {})
                network.remove_s = _answer(driver, log)["remove_s"]
            finally:
                _end(driver)
    finally:
        remove_namespaces((root,))
        session.state.release_namespaces((root,))


def _short_names(cluster: Cluster) -> dict[str, str]:
    """A device's name is a node's with -ethN behind it, and has 15 characters at most."""
    names = {server: f"h{index}" for index, server in enumerate(cluster.servers)}
    return names | {switch: f"s{index}" for index, switch in enumerate(cluster.switches)}


def _asked(
    cluster: Cluster, names: dict[str, str], rate_divisor: float, *, loops: bool
) -> dict[str, Any]:
    return {
        "hosts": [names[server] for server in cluster.servers],
        "switches": [names[switch] for switch in cluster.switches],
        "links": [
            [names[link.a], names[link.b], link.rate_bps / rate_divisor / 1e6]
            for link in cluster.links
        ],
        "stp": loops,
    }


@contextlib.contextmanager
def _named(
    session: Session, cluster: Cluster, names: dict[str, str], answer: dict[str, Any]
) -> Iterator[dict[str, tuple[str, str]]]:
    hosts = {
        server: (
            namespace_name(session.state.run_id, "mn", server),
            answer["hosts"][names[server]]["address"],
        )
        for server in cluster.servers
    }
    namespaces = [namespace for namespace, _ in hosts.values()]
    session.state.claim_namespaces(namespaces, existing_namespaces())
    run_commands(
        Command("ip", ("netns", "attach", hosts[server][0], str(answer["hosts"][short]["pid"])))
        for server, short in names.items()
        if server in hosts
    )
    try:
        yield hosts
    finally:
        remove_namespaces(namespaces)
        session.state.release_namespaces(namespaces)


def _tell(driver: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert driver.stdin is not None  # noqa: S101 - it was opened with pipes
    driver.stdin.write(json.dumps(message) + "\n")
    driver.stdin.flush()


def _answer(driver: subprocess.Popen[str], log: Any) -> dict[str, Any]:
    assert driver.stdout is not None  # noqa: S101
    line = driver.stdout.readline()
    log.seek(0)
    # What it only prints leaves other links than were asked for; tc's warnings of a big quantum and
    # its own of bridges under a firewall do not.
    errors = [each for each in log.read().splitlines() if each.strip() and "Warning:" not in each]
    if errors or not line:
        raise SystemExit(f"Mininet: {'; '.join(errors) or 'it ended without an answer'}")
    answer: dict[str, Any] = json.loads(line)
    return answer


def _end(driver: subprocess.Popen[str]) -> None:
    """Let it end by itself at the end of its input; not for ever."""
    try:
        driver.communicate(timeout=_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        driver.kill()
        driver.communicate()
