"""The scenario of a cluster that is scheduled round by round: trace, servers, scheduler, arms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from traces.emulation_spec import EmulationSpec
from traces.errors import BadInputError
from traces.formats.traces import TRACE_FORMATS
from traces.generators.philly_derived import GpuMix
from traces.quantities import BytesPerS, DurationS, SizeBytes
from traces.scenario_file import Name, ScenarioFile, Strict
from traces.sensitivity import BUILTIN, Sensitivities, builtin_sensitivities, read_sensitivities
from traces.server_pool import ServerGroup, ServerPool
from traces.yaml_source import YamlSource

SECTIONS = ("cluster", "workload", "scheduler", "simulation", "measure", "emulation")

MAX_SEED = 2**53
"""Every reader of JSON knows whole numbers up to here."""

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=1_000_000)]


class ServersSpec(Strict):
    """Servers that are alike; ``storage`` gives out storage bandwidth too."""

    servers: Count
    gpus: Annotated[int, Field(ge=1, le=1024)] = 8
    cpus: Positive = 24.0
    memory: SizeBytes = 500e9
    storage: BytesPerS | None = None
    gpu_type: Name = "v100"

    def group(self) -> ServerGroup:
        """The servers as data."""
        return ServerGroup(
            count=self.servers,
            gpus=self.gpus,
            cpus=self.cpus,
            memory_bytes=self.memory,
            storage_bytes_per_s=self.storage,
            gpu_type=self.gpu_type,
        )


class ClusterSpec(ServersSpec):
    """gpus, cpus, memory and storage are those of one server. ``more``: other types of GPU."""

    more: list[ServersSpec] = Field(default_factory=list)

    @model_validator(mode="after")
    def _types_differ(self) -> ClusterSpec:
        self.pool()
        return self

    def pool(self) -> ServerPool:
        """All servers."""
        try:
            return ServerPool((self.group(), *(spec.group() for spec in self.more)))
        except ValueError as error:
            raise ValueError(f"{error}|another type of GPU, and storage for all or none") from None


class GenerateSpec(Strict):
    """Philly-derived jobs: arrivals at a ``load`` (rho) of the cluster or at ``jobs_per_hour``."""

    jobs: Annotated[int, Field(ge=1, le=10_000_000)]
    load: Positive | None = None
    jobs_per_hour: Positive | None = None
    gpus: GpuMix = "single"

    @model_validator(mode="after")
    def _one_rate(self) -> GenerateSpec:
        if (self.load is None) == (self.jobs_per_hour is None):
            raise ValueError(
                "the arrivals are not given once|either 'load' or 'jobs_per_hour', not both"
            )
        return self


class WorkloadSpec(Strict):
    """Jobs from a trace file or a generator. ``profiles``: how fast models run; ``none`` for jobs
    that only a duration is known of. ``split``: weights of model classes, where jobs have no model.
    """

    trace: str | None = None
    format: str | None = None
    generate: GenerateSpec | None = None
    profiles: str = "synergy"
    split: dict[str, Positive] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_source(self) -> WorkloadSpec:
        if (self.trace is None) == (self.generate is None):
            raise ValueError(
                "the jobs are not given once|either 'trace' (a file) or 'generate', not both"
            )
        if self.trace is None and self.format is not None:
            raise ValueError("generated jobs have no format|'format' beside 'trace' only")
        return self


class SchedulerSpec(Strict):
    """Names of the harness's registries, and the length of a round.

    priority_after: jobs that have waited for so long come first from then on.
    """

    policy: str = "fifo"
    mechanism: str = "proportional"
    placement: str | None = None
    round: DurationS = 300.0
    priority_after: DurationS | None = None


class SimulationSpec(Strict):
    """How time passes: see harness.simulation.round_cluster.RoundSemantics."""

    completion: Literal["exact", "round-end"] = "exact"
    progress: Literal["continuous", "whole-iterations"] = "continuous"
    speeds: Literal["matrix", "two-point"] = "matrix"
    restart: DurationS = 0.0
    checkpoint: DurationS = 0.0
    restarts: Literal["new-leases", "all"] = "new-leases"
    profiling: DurationS = 0.0


class MeasureSpec(Strict):
    """Which jobs count, in order of submission from 0; the run ends when the last of them does.

    short: up to which completion time a job counts as short where both are told apart.
    """

    first: Annotated[int, Field(ge=0)] = 0
    count: Annotated[int, Field(ge=1)] | None = None
    short: DurationS = 4 * 3600.0


class ArmSpec(Strict):
    """One variant: the sections (or keys of them) that differ."""

    cluster: dict[str, object] = Field(default_factory=dict)
    workload: dict[str, object] = Field(default_factory=dict)
    scheduler: dict[str, object] = Field(default_factory=dict)
    simulation: dict[str, object] = Field(default_factory=dict)
    measure: dict[str, object] = Field(default_factory=dict)
    emulation: dict[str, object] = Field(default_factory=dict)


class RoundsScenarioSpec(Strict):
    """The whole file. ``seeds``: how many runs of each arm, with ``seed`` and those after it."""

    name: Name
    description: str = ""
    seed: int = Field(default=1, ge=0, le=MAX_SEED)
    seeds: Annotated[int, Field(ge=1, le=1000)] = 1
    cluster: ClusterSpec
    workload: WorkloadSpec
    scheduler: SchedulerSpec = SchedulerSpec()
    simulation: SimulationSpec = SimulationSpec()
    measure: MeasureSpec = MeasureSpec()
    emulation: EmulationSpec = EmulationSpec()
    arms: dict[Name, ArmSpec] = Field(default_factory=dict)


class RoundsArm(BaseModel):
    """One variant, ready to be simulated."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    name: str
    pool: ServerPool
    workload: WorkloadSpec
    sensitivities: Sensitivities | None
    scheduler: SchedulerSpec
    simulation: SimulationSpec
    measure: MeasureSpec
    emulation: EmulationSpec = EmulationSpec()
    directory: Path

    @property
    def trace_file(self) -> Path | None:
        """Where the trace is: beside the scenario unless its path is absolute."""
        return None if self.workload.trace is None else self.directory / self.workload.trace


class RoundsScenario(BaseModel):
    """A checked scenario of rounds: its arms on the same workload and seeds."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    name: str
    description: str
    seeds: tuple[int, ...]
    arms: tuple[RoundsArm, ...]
    file: ScenarioFile[RoundsScenarioSpec]

    @property
    def text(self) -> str:
        """The file as it was read."""
        return self.file.source.text

    def locate(self, error: BadInputError, arm: str) -> BadInputError:
        """``error``, which knows a key, with the file and line of it."""
        return self.file.locate(error, arm)


def is_rounds_scenario(source: YamlSource) -> bool:
    """Whether the workload has a key of this kind, rather than jobs that stand in the file."""
    workload = source.data.get("workload") if isinstance(source.data, dict) else None
    return isinstance(workload, dict) and bool(set(WorkloadSpec.model_fields) & set(workload))


def rounds_scenario_of(source: YamlSource) -> RoundsScenario:
    """Check a scenario that was read. Raises BadInputError with file, line, key and remedy."""
    file = ScenarioFile(source, RoundsScenarioSpec, SECTIONS)
    spec = file.base()
    return RoundsScenario(
        name=spec.name,
        description=spec.description,
        seeds=tuple(range(spec.seed, spec.seed + spec.seeds)),
        arms=tuple(_arm(file, name, arm) for name, arm in file.arms(spec.name)),
        file=file,
    )


def _arm(file: ScenarioFile[RoundsScenarioSpec], name: str, spec: RoundsScenarioSpec) -> RoundsArm:
    sensitivities = _sensitivities(file, name, spec)
    _check_trace(file, name, spec.workload)
    for kind in spec.workload.split:
        known = sensitivities.kinds if sensitivities else {}
        if kind not in known:
            raise file.error(
                name,
                ("workload", "split", kind),
                f"no profile is of class {kind!r}",
                ", ".join(known) or "no split with profiles: none",
            )
    if spec.workload.generate and sensitivities and not spec.workload.split:
        raise file.error(
            name,
            ("workload",),
            "generated jobs need models",
            "split: weights of the classes " + ", ".join(sensitivities.kinds),
        )
    try:
        spec.emulation.check_models(sensitivities.models if sensitivities else ())
    except BadInputError as error:
        raise file.locate(error, name) from None
    return RoundsArm(
        name=name,
        pool=spec.cluster.pool(),
        workload=spec.workload,
        sensitivities=sensitivities,
        scheduler=spec.scheduler,
        simulation=spec.simulation,
        measure=spec.measure,
        emulation=spec.emulation,
        directory=file.source.file.parent,
    )


def _check_trace(file: ScenarioFile[RoundsScenarioSpec], arm: str, workload: WorkloadSpec) -> None:
    """Refuse a file that is not there, and a format that is not known."""
    if workload.trace is not None and not _is_file(file.source.file.parent / workload.trace):
        raise file.error(
            arm,
            ("workload", "trace"),
            f"{workload.trace!r} is no file beside the scenario",
            "the path of a trace",
        )
    if workload.format is not None and workload.format not in TRACE_FORMATS:
        raise file.error(
            arm,
            ("workload", "format"),
            f"{workload.format!r} is no format of traces",
            ", ".join(TRACE_FORMATS),
        )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # such as a name that is too long
        return False


def _sensitivities(
    file: ScenarioFile[RoundsScenarioSpec], arm: str, spec: RoundsScenarioSpec
) -> Sensitivities | None:
    profiles = spec.workload.profiles
    if profiles == "none":
        return None
    if profiles in BUILTIN:
        return builtin_sensitivities(profiles)
    beside = file.source.file.parent / profiles
    if not _is_file(beside):
        raise file.error(
            arm,
            ("workload", "profiles"),
            f"{profiles!r} is neither a known set nor a file beside the scenario",
            f"none, {', '.join(BUILTIN)}, or the path of a file of profiles",
        )
    return read_sensitivities(beside)
