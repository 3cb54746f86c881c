"""The scenario: one YAML file that says what to run. Unknown keys are refused."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from traces.arm import Arm, Job, JobCommand
from traces.cluster import Cluster
from traces.cluster_spec import ClusterSpec
from traces.errors import BadInputError
from traces.input_pipeline import find_pipeline
from traces.job_profiles import FoundProfile, ProfileSources, read_measured_profiles
from traces.link_events import LinkEvent, link_events
from traces.model_profile import ModelProfile
from traces.rounds_scenario import is_rounds_scenario
from traces.scenario_file import ScenarioFile
from traces.scenario_spec import ScaleSpec, ScenarioSpec
from traces.sensitivity import Sensitivity
from traces.server_pool import ServerGroup
from traces.server_resources import server_resources
from traces.unused_keys import check_used
from traces.workload_spec import JobSpec, WorkloadSpec
from traces.yaml_source import KeyPath, YamlSource

SECTIONS = ("cluster", "workload", "scheduler", "transport", "events")

_LISTED = 16  # servers that an error names before it only counts them


class Scenario(BaseModel):
    """A checked scenario: its arms on the same workload and seed."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    name: str
    description: str
    seed: int
    scale: ScaleSpec
    arms: tuple[Arm, ...]
    file: ScenarioFile[ScenarioSpec]

    @property
    def text(self) -> str:
        """The file as it was read."""
        return self.file.source.text

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of its arms, each once."""
        return tuple(dict.fromkeys(text for arm in self.arms for text in arm.warnings))

    def locate(self, error: BadInputError, arm: str | None = None) -> BadInputError:
        """``error``, which knows a key, with the file and line of it; in ``arm`` if it is there."""
        return self.file.locate(error, arm)


def load_scenario(path: Path) -> Scenario:
    """Read and check a scenario. Raises BadInputError with file, line, key and what is allowed."""
    source = ScenarioFile.read(path)
    if is_rounds_scenario(source):
        raise BadInputError(
            "the jobs of a trace or a generator are scheduled round by round, and share no links",
            allowed="a workload of 'jobs'",
            file=path,
            line=source.line_of(("workload",)),
            key="workload",
        )
    return scenario_of(source)


def scenario_of(source: YamlSource) -> Scenario:
    """Check a scenario that was read. Raises BadInputError as load_scenario."""
    file = ScenarioFile(source, ScenarioSpec, SECTIONS)
    spec = file.base()
    specs = dict(file.arms(spec.name))
    check_used(file, specs)
    return Scenario(
        name=spec.name,
        description=spec.description,
        seed=spec.seed,
        scale=spec.scale,
        arms=tuple(_arm(file, name, arm) for name, arm in specs.items()),
        file=file,
    )


def _arm(file: ScenarioFile[ScenarioSpec], name: str, spec: ScenarioSpec) -> Arm:
    cluster, warnings = _cluster(file, name, spec.cluster)
    sources = _profile_sources(file, name, spec.workload)
    jobs: list[Job] = []
    for index, job in enumerate(spec.workload.jobs):
        path: KeyPath = ("workload", "jobs", index)
        if job.id in {other.id for other in jobs}:
            raise file.error(name, (*path, "id"), f"{job.id!r} stands twice", "each id once")
        _check_servers(file, name, path, job, spec)
        for position, server in enumerate(job.servers or ()):
            if server not in cluster.servers:
                problem = f"there is no server {server!r}"
                where = (*path, "servers", position)
                raise file.error(name, where, problem, _some(cluster.servers))
        if job.servers and len(set(job.servers)) != len(job.servers):
            raise file.error(name, (*path, "servers"), "a server stands twice", "each once")
        found = _profile(file, name, path, job, sources)
        if found.warning:
            warnings += (f"job {job.id}: {found.warning}",)
        jobs.append(
            Job(
                id=job.id,
                profile=found.profile,
                choices=_choices(job, found.profile, sources, spec, len(cluster.servers)),
                servers=tuple(job.servers or ()),
                start_s=job.start,
                iterations=job.iterations,
                weight=job.weight,
                priority=job.priority,
                path_variant=job.path,
                input_pipeline=_pipeline(file, name, path, job),
                command=_command(file, job),
            )
        )
        _check_path_variant(file, name, (*path, "path"), cluster, jobs[-1])
    return Arm(
        name=name,
        cluster=cluster,
        dedicated=spec.cluster.dedicated,
        jobs=tuple(jobs),
        iterations=spec.workload.iterations,
        warmup_iterations=spec.workload.warmup_iterations,
        scheduler=spec.scheduler,
        gpus=spec.cluster.gpus,
        resources=_resources(file, name, spec, len(cluster.servers), jobs),
        transport=spec.transport,
        events=_events(file, name, spec, cluster),
        warnings=warnings,
    )


def _choices(
    job: JobSpec,
    profile: ModelProfile,
    sources: ProfileSources,
    spec: ScenarioSpec,
    num_servers: int,
) -> tuple[ModelProfile, ...]:
    """See Job. Pollux alone chooses, from one worker up to as many as there are GPUs."""
    if spec.scheduler.placement != "pollux":
        return ()
    return sources.choices(job.profile, profile, num_servers * spec.cluster.gpus)


def _check_servers(
    file: ScenarioFile[ScenarioSpec], arm: str, path: KeyPath, job: JobSpec, spec: ScenarioSpec
) -> None:
    """Servers where they are given, a number of workers where a scheduler places them."""
    placement = spec.scheduler.placement
    wanted, other = ("servers", "workers") if placement == "given" else ("workers", "servers")
    if getattr(job, wanted) is None:
        key = other if getattr(job, other) is not None else "id"
        raise file.error(
            arm,
            (*path, key),
            f"with the placement {placement!r} a job has {wanted}",
            f"{wanted}, or another scheduler.placement",
        )
    if getattr(job, other) is not None:
        problem = f"with the placement {placement!r} a job has no {other}"
        raise file.error(arm, (*path, other), problem, f"{wanted} alone")
    if placement != "given" and spec.cluster.dedicated:
        raise file.error(
            arm,
            ("cluster", "dedicated"),
            "jobs that a scheduler places have no copies of the cluster",
            "for the ideal, a preset whose jobs share no link: single-switch",
        )


def _resources(
    file: ScenarioFile[ScenarioSpec], arm: str, spec: ScenarioSpec, servers: int, jobs: list[Job]
) -> ServerGroup | None:
    """What the scheduler's mechanism divides; None where it has none."""
    if spec.scheduler.mechanism == "none":
        return None
    pipelines = [job.input_pipeline for job in jobs]
    placed = spec.scheduler.placement != "given"
    try:
        return server_resources(spec.cluster, servers, pipelines, placed=placed)
    except BadInputError as error:
        raise file.locate(error, arm) from None


def _command(file: ScenarioFile[ScenarioSpec], job: JobSpec) -> JobCommand | None:
    """It starts beside the scenario."""
    if job.command is None:
        return None
    return JobCommand(argv=tuple(job.command), directory=file.source.file.parent.resolve())


def _pipeline(
    file: ScenarioFile[ScenarioSpec], arm: str, path: KeyPath, job: JobSpec
) -> Sensitivity | None:
    if job.input_pipeline is None:
        return None
    try:
        return find_pipeline(job.input_pipeline)
    except BadInputError as error:
        where = (*path, "input_pipeline")
        raise file.error(arm, where, error.problem, error.allowed) from None


def _events(
    file: ScenarioFile[ScenarioSpec], arm: str, spec: ScenarioSpec, cluster: Cluster
) -> tuple[LinkEvent, ...]:
    try:
        return link_events(spec.events, cluster)
    except BadInputError as error:
        raise file.locate(error, arm) from None


def _cluster(
    file: ScenarioFile[ScenarioSpec], arm: str, spec: ClusterSpec
) -> tuple[Cluster, tuple[str, ...]]:
    """The cluster and its warnings."""
    try:
        built = spec.build(file.source.file.parent)
    except BadInputError as error:
        raise error if error.file else file.locate(error, arm) from None
    return built.cluster, built.warnings


def _some(names: tuple[str, ...]) -> str:
    """``names``, or the first of them and how many there are."""
    listed = ", ".join(names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed}, ... ({len(names)} in all)"


def _check_path_variant(
    file: ScenarioFile[ScenarioSpec], arm: str, path: KeyPath, cluster: Cluster, job: Job
) -> None:
    if not job.servers:
        return
    num_variants = max(
        (
            cluster.num_variants(job.servers[source], job.servers[destination])
            for source, destination in job.connections
        ),
        default=1,
    )
    if job.path_variant >= num_variants:
        raise file.error(
            arm,
            path,
            f"there is no path {job.path_variant} between its servers",
            "0" if num_variants == 1 else f"0 to {num_variants - 1}",
        )


def _profile_sources(
    file: ScenarioFile[ScenarioSpec], arm: str, spec: WorkloadSpec
) -> ProfileSources:
    beside = file.source.file.parent
    if spec.measured_profiles is None:
        return ProfileSources(beside)
    try:
        return ProfileSources(beside, read_measured_profiles(beside / spec.measured_profiles))
    except BadInputError as error:
        raise error if error.file else file.locate(error, arm) from None


def _profile(
    file: ScenarioFile[ScenarioSpec],
    arm: str,
    path: KeyPath,
    job: JobSpec,
    sources: ProfileSources,
) -> FoundProfile:
    try:
        return sources.find(job.profile, job.num_workers, job.batch_per_gpu)
    except BadInputError as error:
        if error.file:
            raise
        raise file.error(arm, (*path, error.key or ""), error.problem, error.allowed) from None
