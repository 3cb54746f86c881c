"""One variant of a scenario, ready to be simulated or emulated, and its jobs."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, model_validator

from traces.cluster import Cluster
from traces.input_pipeline import Share, with_input
from traces.link_events import LinkEvent
from traces.model_profile import ModelProfile
from traces.scenario_file import Strict
from traces.scenario_spec import Interleaver, SchedulerSpec, TransportSpec
from traces.sensitivity import Sensitivity
from traces.server_pool import ServerGroup


class JobCommand(Strict):
    """A job's own program, which an emulation runs on each of its servers instead of replaying it.

    argv: the program and its arguments. directory: it starts in.
    """

    argv: tuple[str, ...]
    directory: Path


class Job(Strict):
    """A job with its profile; worker rank i runs on ``servers[i]``; it starts at ``start_s``.

    servers: empty where a scheduler places the workers; start_s is then when the job arrives.
    choices: profiles with each number of workers that a scheduler may give it, ascending and
    ``profile`` among them; empty where it has that number alone.
    iterations: all of its own, warm-up included; None where they are the arm's.
    weight: its share of a port under ``weighted`` sharing, beside others' weights.
    priority: under ``priority`` sharing the greater goes first.
    path_variant: which of the equal paths its pairs take; a pair with fewer repeats its own.
    input_pipeline: None where it waits for no samples. share: of each worker; None where CPUs and
    memory are not divided, or not yet. command: None where its profile is replayed.
    """

    id: str
    profile: ModelProfile
    choices: tuple[ModelProfile, ...] = ()
    servers: tuple[str, ...] = ()
    start_s: float = 0.0
    iterations: int | None = None
    weight: float = 1.0
    priority: int = 0
    path_variant: int = 0
    input_pipeline: Sensitivity | None = None
    share: Share | None = None
    command: JobCommand | None = None

    def with_share(self, share: Share | None) -> Job:
        """The same job, whose workers have ``share``, with the demand that follows from it."""
        if share is None:
            return self
        profile = self.profile
        if self.input_pipeline is not None:
            demand = with_input(profile.demand, self.input_pipeline, share)
            profile = profile.model_copy(update={"demand": demand})
        return self.model_copy(update={"share": share, "profile": profile})

    @property
    def connections(self) -> set[tuple[int, int]]:
        """(source rank, destination rank) of every pair of workers that exchanges data."""
        return {
            (source, destination)
            for transfer in self.profile.demand.transfers
            for source, destination, _ in transfer.flows(self.profile.num_gpus)
        }

    def on(self, servers: tuple[str, ...]) -> Job:
        """The job with a worker on each of ``servers``, which are as many as it may have."""
        profiles = {profile.num_gpus: profile for profile in (self.profile, *self.choices)}
        return self.model_copy(update={"servers": servers, "profile": profiles[len(servers)]})

    @model_validator(mode="after")
    def _one_server_a_worker(self) -> Job:
        if self.servers and len(self.servers) != self.profile.num_gpus:
            raise ValueError(
                f"{len(self.servers)} servers for a profile of {self.profile.num_gpus} workers"
            )
        return self


class Arm(BaseModel):
    """One variant of the scenario, ready to be simulated or emulated.

    scheduler: with a placement other than ``given`` the jobs have no servers yet. gpus: of each
    server. resources: of all servers, where the scheduler has a mechanism that divides them.

    events: changes of links while it runs, in order of time; on each copy of the cluster.
    warnings: what of its topology is probably a mistake, and which jobs' profiles are not the
    measured ones that the scenario asks for; a sentence each.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    name: str
    cluster: Cluster
    dedicated: bool
    jobs: tuple[Job, ...]
    iterations: int
    warmup_iterations: int
    scheduler: SchedulerSpec = SchedulerSpec()
    gpus: int = 1
    resources: ServerGroup | None = None
    transport: TransportSpec = TransportSpec()
    events: tuple[LinkEvent, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def interleaver(self) -> Interleaver:
        """What computes time-shifts."""
        return self.scheduler.interleaver

    @property
    def is_scheduled(self) -> bool:
        """Whether a scheduler places the jobs, round by round."""
        return self.scheduler.placement != "given"

    def iterations_of(self, job: Job) -> int:
        """All iterations of ``job``, warm-up included."""
        return job.iterations or self.total_iterations

    @property
    def networks(self) -> list[tuple[Job, ...]]:
        """The jobs by the copy of the cluster that they run on: all on one, or one on each."""
        return [(job,) for job in self.jobs] if self.dedicated else [self.jobs]

    @property
    def total_iterations(self) -> int:
        """Iterations of each job that has no number of its own, warm-up included."""
        return self.warmup_iterations + self.iterations
