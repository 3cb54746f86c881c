"""What a run of rounds is about, and in what its arms differ, in plain words. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.rounds.comparison import unlike_first
from harness.report.rounds.documents import ArmRead, ServersRead, Summary
from harness.report.words import SPACE, counted, duration, listed, number, sentence, span

DIFFERENCES = {
    "cluster": "the cluster",
    "workload": "the jobs",
    "measure": "the jobs that count",
    "policy": "the policy",
    "mechanism": "the mechanism",
    "placement": "the placement",
    "round_s": "the length of a round",
    "priority_after_s": "the guard against starvation",
    "simulation": "the options of the simulation",
}
"""What arms may differ in, by key of ArmRead."""


def setting(summary: Summary) -> str:
    """What happens in the run, for a reader who does not know such schedulers."""
    arms = summary.arms
    if not arms:
        return ""
    clusters = [cluster_words(arm.cluster) for arm in arms]
    where = clusters[0] if len(set(clusters)) == 1 else "a cluster"
    rounds = span([arm.round_s for arm in arms], duration)
    parts = [
        f"jobs that train models arrive at {where}, and a scheduler decides anew every {rounds} "
        "which of them run: a policy says who comes first, a mechanism how much CPU and memory a "
        "job gets beside its GPUs, a placement on which servers",
    ]
    if len(arms) > 1:
        found = differences(arms)
        parts.append(
            f"the arms differ in {listed(found)}" if found else "the arms are all the same"
        )
    return " ".join(sentence(part) for part in parts)


def columns(summary: Summary) -> str:
    """What the columns of the table of arms mean."""
    short = listed(list(dict.fromkeys(duration(arm.measure.short) for arm in summary.arms)))
    parts = [
        "completion time runs from a job's submission to its end, and is given for the jobs that "
        "count",
        f"short jobs are those that take up to {short} alone at the fair share, which is as much "
        "CPU and memory of a server as GPUs of it",
        "load is the GPU time that arriving jobs ask for over what there is: while it is above 1, "
        "the queue grows",
        "a lease lasts as long as a job holds exactly the same, so that a job with one lease was "
        "never moved, stopped or given another share",
        "the speed-up is the first arm's mean completion time over the arm's own",
    ]
    if any(arm.jct_mean_s and arm.jct_mean_s.low is not None for arm in summary.arms):
        parts.append(f"small numbers are 95{SPACE}% intervals over the seeds")
    return " ".join(sentence(part) for part in parts)


def differences(arms: Sequence[ArmRead]) -> list[str]:
    """In what ``arms`` differ, in words."""
    return [
        words
        for key, words in DIFFERENCES.items()
        if any(getattr(arm, key) != getattr(arms[0], key) for arm in arms)
    ]


def not_like_for_like(summary: Summary) -> str:
    """Which arms differ from the first in more than the scheduler; empty where none does."""
    unlike = unlike_first(summary)
    if not unlike:
        return ""
    which = f"arm {unlike[0].name} has" if len(unlike) == 1 else f"{len(unlike)} arms have"
    return (
        f"{which} another cluster or other jobs than arm {summary.arms[0].name}, so that the "
        "speed-up over it is not the scheduler's alone"
    )


def cluster_words(cluster: Sequence[ServersRead]) -> str:
    """``16 servers with 8 V100 GPUs, 24 CPUs and 500 GB of memory each``."""
    return listed([_servers_words(servers) for servers in cluster])


def _servers_words(servers: ServersRead) -> str:
    parts = [
        f"{servers.gpus}{SPACE}{servers.gpu_type.upper()}{SPACE}GPU{_plural(servers.gpus)}",
        f"{number(servers.cpus)}{SPACE}CPU{_plural(servers.cpus)}",
        f"{number(servers.memory_bytes / 1e9)}{SPACE}GB of memory",
    ]
    if servers.storage_bytes_per_s is not None:
        parts.append(f"{number(servers.storage_bytes_per_s / 1e9)}{SPACE}GB/s of storage")
    words = f"{counted(servers.count, 'server', 'servers')} with {listed(parts)}"
    return words if servers.count == 1 else f"{words} each"


def _plural(count: float) -> str:
    return "" if count == 1 else "s"
