"""Small jobs, arms, scenarios and evidence that the tests share.

The toy job: 100 ms of compute, then 5 MB over a ring, 40 ms at 1 Gbit/s; 140 ms when alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emulator.verdict import BoxEvidence, PortEvidence, SwitchEvidence
from traces.arm import Arm, Job
from traces.cluster import Cluster, Sharing, dumbbell
from traces.demand import Demand, Pattern, Transfer
from traces.model_profile import ModelProfile
from traces.results import IterationRow
from traces.scenario_spec import SchedulerSpec

GBIT = 1e9
CASSINI = SchedulerSpec(interleaver="cassini")
TOY_COMPUTE_S = 0.1
TOY_BYTES = 5e6
TOY_TRANSFER_S = 0.04
TOY_ALONE_S = 0.14

SCENARIO = """\
name: toy
description: Two small jobs on one link.
seed: 7

cluster:
  preset: dumbbell
  servers_left: 2
  servers_right: 2
  rate: 50 Gbit/s

workload:
  iterations: 4
  warmup_iterations: 1
  jobs:
    - id: job-a
      profile: vgg19
      servers: [left0, right0]
    - id: job-b
      profile: vgg19
      servers: [left1, right1]

arms:
  dedicated:
    cluster: {dedicated: true}
  together: {}
  shifted:
    scheduler: {interleaver: cassini}
  fifo:
    cluster: {sharing: fifo}
"""


ROUNDS_SCENARIO = """\
name: toy-rounds
description: Sixty jobs on two servers.
seed: 5
seeds: 2

cluster:
  servers: 2
  gpus: 8
  cpus: 24
  memory: 500 GB
  gpu_type: v100

workload:
  generate:
    jobs: 60
    load: 1.0
    gpus: single
  profiles: synergy
  split: {image: 20, language: 70, speech: 10}

scheduler:
  policy: fifo
  mechanism: proportional
  round: 300 s

simulation:
  completion: exact

measure:
  first: 10
  count: 40

arms:
  proportional: {}
  tune:
    scheduler: {mechanism: tune}
  opt:
    scheduler: {mechanism: opt}
"""


def line_of(text: str, fragment: str) -> int:
    """Number of the only line of ``text`` that has ``fragment``."""
    found = [number for number, line in enumerate(text.splitlines(), 1) if fragment in line]
    assert len(found) == 1, f"{fragment!r} stands on the lines {found}"
    return found[0]


def edited(text: str, old: str, new: str) -> str:
    """``text`` with its only ``old`` replaced."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)


def write_scenario(directory: Path, text: str = SCENARIO) -> Path:
    file = directory / "scenario.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def toy_transfer(**changes: Any) -> Transfer:
    return Transfer(**({"ready_s": TOY_COMPUTE_S, "bytes": TOY_BYTES} | changes))


def make_profile(demand: Demand | None = None, workers: int = 2, **changes: Any) -> ModelProfile:
    values: dict[str, Any] = {
        "model": "toy",
        "num_gpus": workers,
        "demand": Demand(TOY_COMPUTE_S, (toy_transfer(),)) if demand is None else demand,
        "provenance": "measured",
        "source": "a test",
    }
    return ModelProfile(**(values | changes))


def make_job(
    name: str,
    servers: Sequence[str] = ("left0", "right0"),
    demand: Demand | None = None,
    start_s: float = 0.0,
) -> Job:
    profile = make_profile(demand, workers=len(servers))
    return Job(id=name, profile=profile, servers=tuple(servers), start_s=start_s)


def toy_pair(second_start_s: float = 0.0) -> tuple[Job, Job]:
    """Two toy jobs that share the middle link, and nothing else."""
    return (
        make_job("one", ("left0", "right0")),
        make_job("two", ("left1", "right1"), start_s=second_start_s),
    )


def toy_cluster(sharing: Sharing = Sharing.FAIR) -> Cluster:
    return dumbbell(2, 2, GBIT, sharing=sharing)


def all_to_all_job() -> Job:
    """Four workers, so that several of its flows leave through one port."""
    transfer = toy_transfer(pattern=Pattern.ALL_TO_ALL, ready_s=0.05)
    servers = ("left0", "left1", "right0", "right1")
    return make_job("spread", servers, Demand(TOY_COMPUTE_S, (transfer,)))


def make_arm(jobs: Sequence[Job] | None = None, **changes: Any) -> Arm:
    values: dict[str, Any] = {
        "name": "arm",
        "cluster": toy_cluster(),
        "dedicated": False,
        "jobs": toy_pair() if jobs is None else tuple(jobs),
        "iterations": 4,
        "warmup_iterations": 1,
    }
    return Arm(**(values | changes))


def iteration_row(arm: str, number: int, iteration_s: float, **changes: Any) -> IterationRow:
    values: dict[str, Any] = {
        "arm": arm,
        "job": "one",
        "iteration": number,
        "counted": True,
        "start_s": number * iteration_s,
        "communication_start_s": number * iteration_s + iteration_s / 2,
        "end_s": (number + 1) * iteration_s,
        "iteration_s": iteration_s,
    }
    return IterationRow(**(values | changes))


def sound_port(**changes: Any) -> PortEvidence:
    """A port of 8 Mbit/s that sends at exactly its rate: 1 MB a second."""
    values: dict[str, Any] = {
        "port": "a->b",
        "rate_bps": 8e6,
        "burst_bytes": 1514,
        "calibrated_bps": 8e6,
        "before_s": [0.0, 1.0, 2.0],
        "after_s": [0.0, 1.0, 2.0],
        "sent_bytes": [0, 1_000_000, 2_000_000],
        "dropped_packets": 0,
        "unclassified_bytes": 0,
    }
    return PortEvidence(**(values | changes))


def sound_switch(**changes: Any) -> SwitchEvidence:
    values: dict[str, Any] = {
        "switch": "switch-left",
        "received_bytes": 5000,
        "sent_bytes": 4000,
        "dropped_packets": 0,
        "backlog_bytes": 1000,
    }
    return SwitchEvidence(**(values | changes))


def sound_box(**changes: Any) -> BoxEvidence:
    values: dict[str, Any] = {
        "idle_share": 0.5,
        "steal_share": 0.0,
        "lateness": [0.001] * 100,
        "iterations_wanted": 10,
        "iterations_measured": 10,
    }
    return BoxEvidence(**(values | changes))
