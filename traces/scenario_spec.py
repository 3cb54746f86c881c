"""What the file of a scenario may say: its sections, their keys and defaults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from traces.cluster_spec import ClusterSpec
from traces.link_events import EventSpec
from traces.quantities import DurationS, SizeBytes
from traces.scenario_file import Name, Strict
from traces.workload_spec import WorkloadSpec

Interleaver = Literal["none", "cassini"]
Placement = Literal["given", "pollux", "random", "themis"]
Mechanism = Literal["none", "proportional", "tune"]
Statistic = Literal["mean", "min", "tail"]
Shares = Literal["given", "unequal", "gpu-intensity"]


class SchedulerSpec(Strict):
    """Who places jobs, and what sets them apart in time.

    placement: ``given`` where jobs name their servers; else a scheduler places their workers, and
    decides anew every ``round``; a job that it starts begins after ``restart``. ``pollux`` chooses
    their number as well, by the speed that profiles say, and reckons with ``restart``.
    mechanism: divides the CPUs and the memory of a server among the workers that are placed on it,
    ``proportional`` to their GPUs or as Synergy's ``tune``; with ``none`` samples are always there.
    interleaver: computes time-shifts: ``none``, or ``cassini``, which also takes the best of up to
    ``candidates`` placements that the scheduler holds equal, by the ``ranking`` of links' scores.
    precision: degrees between two rotations that are tried of the job with the shortest period;
    five is what CASSINI's paper recommends (section 5.7). Far finer circles cannot be compared.
    shares: who gives jobs their weights or priorities: ``given`` in the file, ``unequal`` weights,
    or priorities by ``gpu-intensity``.
    """

    placement: Placement = "given"
    mechanism: Mechanism = "none"
    interleaver: Interleaver = "none"
    shares: Shares = "given"
    round: Annotated[DurationS, Field(ge=1)] = 20.0
    restart: Annotated[DurationS, Field(ge=0.2)] = 1.0
    candidates: int = Field(default=10, ge=1, le=1000)
    ranking: Statistic = "mean"
    precision: float = Field(default=5.0, ge=0.1, le=180, description="degrees")


class TransportSpec(Strict):
    """How the emulated connections behave. The simulator does not model it.

    ecn_threshold: bytes waiting at an emulated switch port above which packets are marked. It is
    not scaled, for a threshold has to hold some whole packets whatever the rate.
    """

    congestion_control: Literal["cubic", "reno", "bbr", "dctcp"] = "cubic"
    ecn_threshold: SizeBytes | None = None


class ScaleSpec(Strict):
    """``rate_divisor``: how many times slower the emulated links are; ``auto`` fits the box."""

    rate_divisor: Literal["auto"] | Annotated[float, Field(ge=1, allow_inf_nan=False)] = "auto"


class ArmSpec(Strict):
    """One variant: the sections (or keys of them) that differ; events as a whole."""

    cluster: dict[str, object] = Field(default_factory=dict)
    workload: dict[str, object] = Field(default_factory=dict)
    scheduler: dict[str, object] = Field(default_factory=dict)
    transport: dict[str, object] = Field(default_factory=dict)
    events: list[dict[str, object]] | None = None


class ScenarioSpec(Strict):
    """The whole file."""

    name: Name
    description: str = ""
    seed: int = Field(default=1, ge=0)
    cluster: ClusterSpec
    workload: WorkloadSpec
    scheduler: SchedulerSpec = SchedulerSpec()
    transport: TransportSpec = TransportSpec()
    events: list[EventSpec] = Field(default_factory=list, max_length=1000)
    scale: ScaleSpec = ScaleSpec()
    arms: dict[Name, ArmSpec] = Field(default_factory=dict)
