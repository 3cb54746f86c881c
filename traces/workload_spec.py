"""The ``workload`` of a scenario whose jobs stand in the file."""

from __future__ import annotations

from pydantic import Field

from traces.quantities import DurationS
from traces.routing import MAX_VARIANTS
from traces.scenario_file import Name, Strict

MAX_WORKERS = 64


class JobSpec(Strict):
    """One job: its profile (a known model, or a file beside the scenario), servers and start.

    Jobs that a scheduler places have a number of ``workers`` instead of servers. Under Pollux that
    is the number with which its ``iterations`` are counted: it may run with any other, as long as
    its model spreads over it, and on 16 servers at most, with the same batch on each GPU and so
    with fewer iterations where it has more. A job whose profile is a file has its own number
    always. ``input_pipeline`` takes a scheduler with a mechanism; a job without one waits for no
    samples, whatever its share.
    ``command``: an emulation runs this program on each of the servers, instead of replaying the
    profile, which then serves the simulator and time-shifts.
    ``weight`` and ``priority`` (the greater goes first) count where the sharing is of that name.
    """

    id: Name
    profile: str = Field(min_length=1)
    batch_per_gpu: int | None = Field(
        default=None, ge=1, description="samples per GPU and iteration; a known model has a default"
    )
    servers: list[str] | None = Field(default=None, min_length=1, max_length=MAX_WORKERS)
    workers: int | None = Field(default=None, ge=1, le=MAX_WORKERS)
    input_pipeline: str | None = Field(
        default=None, description="a model of Synergy's, whose input pipeline it has"
    )
    start: DurationS = Field(
        default=0.0, description="when its first iteration starts; with workers, when it arrives"
    )
    iterations: int | None = Field(
        default=None, ge=2, le=100_000, description="of this job; else the workload's"
    )
    weight: float = Field(default=1.0, ge=0.001, le=1000, allow_inf_nan=False)
    priority: int = Field(default=0, ge=0, le=7, description="a traffic class of IEEE 802.1Q")
    command: list[str] | None = Field(default=None, min_length=1, max_length=1000)
    path: int = Field(
        default=0, ge=0, lt=MAX_VARIANTS, description="which of the equal paths of its pairs"
    )

    @property
    def num_workers(self) -> int:
        """However they are given."""
        return self.workers or len(self.servers or ())


class WorkloadSpec(Strict):
    """The jobs; the first iterations of each warm its connections up and are not counted.

    measured_profiles: a directory of profiles that go before the known models of the same name.
    """

    jobs: list[JobSpec] = Field(min_length=1, max_length=63)
    measured_profiles: str | None = Field(default=None, min_length=1)
    iterations: int = Field(default=30, ge=2, le=100_000)
    warmup_iterations: int = Field(default=3, ge=0, le=1000)
