"""How long networks take to plan, to build and to remove, and Mininet beside."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from bench.figures import Figure
from bench.mininet_peer import peer_network, why_absent
from emulator.session import Session
from netshaper.apply import existing_namespaces
from netshaper.disciplines import JobTraffic
from netshaper.plan import plan_network
from netshaper.run_state import new_run_id
from traces.cluster import Cluster
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.fat_tree import fat_tree
from traces.topologies.leaf_spine import leaf_spine

_RUNS = 5
_LARGE_RUNS = 3
_RATE_BPS = 50e9
_RATE_DIVISOR = 500.0
_SETTLE_S = 1.0  # the kernel takes namespaces apart in the background


def measure_planning() -> Iterator[Figure]:
    """From a preset's parameters to all commands."""
    taken_s = []
    commands = 0
    for _ in range(_RUNS):
        began_s = time.perf_counter()
        cluster = fat_tree(16, _RATE_BPS)
        jobs = [JobTraffic("job")]
        plan = plan_network("bench", "n0", cluster, jobs, _RATE_DIVISOR, connections=1024)
        taken_s.append(time.perf_counter() - began_s)
        commands = len(plan.commands)
    note = (
        f"a fat-tree of {len(cluster.servers):,} servers, {len(cluster.links):,} links, one job: "
        f"{commands:,} commands; median of {_RUNS}"
    )
    seconds = statistics.median(taken_s)
    yield Figure("netshaper.plan_1000_hosts_s", seconds, "s", 1.0, "at most", None, note)


def measure_many_hosts() -> Iterator[Figure]:
    """200 hosts, checked against the plan, and nothing left of them."""
    cluster = leaf_spine(200, 10, 4, _RATE_BPS)
    taken_s = [_ours_s(cluster) for _ in range(_LARGE_RUNS)]
    note = (
        f"built, read back and removed without error, {len(cluster.nodes)} namespaces, "
        f"{len(cluster.links)} links; median of {_LARGE_RUNS}"
    )
    seconds = statistics.median(taken_s)
    yield Figure("netshaper.build_200_hosts_s", seconds, "s", None, "at most", None, note)


def measure_against_mininet() -> Iterator[Figure]:
    """The same graph and rates, in turn; each port with one class."""
    cluster = cassini_24()
    reason = why_absent()
    ours_s, theirs_s = [], []
    for number in range(_RUNS):
        ours_s.append(_ours_s(cluster))
        if reason is None:
            theirs_s.append(_mininet_s(cluster))
        peer = f", Mininet {theirs_s[-1]:.2f} s" if theirs_s else ""
        print(f"  cassini-24, run {number + 1}: ours {ours_s[-1]:.2f} s{peer}", flush=True)
    seconds = statistics.median(ours_s)
    peer_s = statistics.median(theirs_s) if theirs_s else None
    note = f"cassini-24: planned, built, read back and removed; median of {_RUNS}"
    yield Figure("netshaper.build_cassini_24_s", seconds, "s", None, "at most", peer_s, note)
    if peer_s is None:
        print(f"  Mininet is absent ({reason}): no netshaper.build_vs_mininet", flush=True)
        return
    note = (
        f"cassini-24, {_RATE_BPS / _RATE_DIVISOR / 1e6:g} Mbit/s: Mininet {peer_s:.2f} s "
        f"(LinuxBridge with spanning tree, TCLink; built and stopped, without its import and the "
        f"half minute until the trees forward), ours {seconds:.2f} s; medians of {_RUNS} in turn"
    )
    ratio = peer_s / seconds
    yield Figure("netshaper.build_vs_mininet", ratio, "", 10.0, "at least", None, note)


def _ours_s(cluster: Cluster) -> float:
    run_id = new_run_id()
    with Session(run_id) as session:
        time.sleep(_SETTLE_S)  # its fork server imports beside; nor does Mininet's import count
        began_s = time.monotonic()
        plan = plan_network(run_id, "n0", cluster, [], _RATE_DIVISOR, connections=1)
        session.build_network(plan)
        session.remove_network(plan)
        taken_s = time.monotonic() - began_s
    if any(run_id in name for name in existing_namespaces()):
        raise SystemExit("something is left of a network that was removed")
    time.sleep(_SETTLE_S)
    return taken_s


def _mininet_s(cluster: Cluster) -> float:
    with Session(new_run_id()) as session:
        with peer_network(session, cluster, _RATE_DIVISOR, loops=True) as network:
            pass
        taken_s = network.build_s + (network.remove_s or 0.0)
    time.sleep(_SETTLE_S)
    return taken_s
