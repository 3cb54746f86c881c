"""The scenario: one YAML file that says what to run. Unknown keys are refused."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from traces.cluster import Cluster, Fabric, Sharing, dumbbell
from traces.errors import BadInputError
from traces.model_profile import ModelProfile, read_profile
from traces.models import RECONSTRUCTED
from traces.quantities import DurationS, RateBps
from traces.yaml_source import KeyPath, YamlSource, read_yaml

_NAME = r"^[a-z0-9][a-z0-9-]{0,31}$"
Name = Annotated[str, Field(pattern=_NAME)]
_NAME_ALLOWED = "lower-case letters, digits and '-', at most 32, beginning with a letter or digit"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ClusterSpec(_Strict):
    """The cluster. ``dedicated`` gives each job a whole copy of it, for the ideal."""

    preset: Literal["dumbbell"] = "dumbbell"
    servers_left: int = Field(default=2, ge=1, le=64)
    servers_right: int = Field(default=2, ge=1, le=64)
    rate: RateBps = Field(description="rate of every link")
    middle_rate: RateBps | None = Field(default=None, description="rate of the middle link")
    sharing: Sharing = Sharing.FAIR
    fabric: Fabric = Fabric.LOSSLESS
    dedicated: bool = False

    def build(self) -> Cluster:
        """The topology that this describes."""
        return dumbbell(
            self.servers_left,
            self.servers_right,
            self.rate,
            self.middle_rate,
            self.sharing,
            self.fabric,
        )


class JobSpec(_Strict):
    """One job: its profile (a known model, or a file beside the scenario), servers and start."""

    id: Name
    profile: str = Field(min_length=1)
    servers: list[str] = Field(min_length=1, max_length=64)
    start: DurationS = Field(default=0.0, description="when its first iteration starts")


class WorkloadSpec(_Strict):
    """The jobs; the first iterations of each warm its connections up and are not counted."""

    jobs: list[JobSpec] = Field(min_length=1, max_length=63)
    iterations: int = Field(default=30, ge=2, le=100_000)
    warmup_iterations: int = Field(default=3, ge=0, le=1000)


class SchedulerSpec(_Strict):
    """The interleaver computes time-shifts: ``none``, or ``cassini``."""

    interleaver: Literal["none", "cassini"] = "none"


class ScaleSpec(_Strict):
    """``rate_divisor``: how many times slower the emulated links are; ``auto`` fits the box."""

    rate_divisor: Literal["auto"] | Annotated[float, Field(ge=1, allow_inf_nan=False)] = "auto"


class ArmSpec(_Strict):
    """One variant: the sections (or keys of them) that differ."""

    cluster: dict[str, object] = {}
    workload: dict[str, object] = {}
    scheduler: dict[str, object] = {}


class ScenarioSpec(_Strict):
    """The whole file."""

    name: Name
    description: str = ""
    seed: int = Field(default=1, ge=0)
    cluster: ClusterSpec
    workload: WorkloadSpec
    scheduler: SchedulerSpec = SchedulerSpec()
    scale: ScaleSpec = ScaleSpec()
    arms: dict[Name, ArmSpec] = {}


class Job(_Strict):
    """A job with its profile; worker rank i runs on ``servers[i]``; it starts at ``start_s``."""

    id: str
    profile: ModelProfile
    servers: tuple[str, ...]
    start_s: float = 0.0

    @property
    def connections(self) -> set[tuple[int, int]]:
        """(source rank, destination rank) of every pair of workers that exchanges data."""
        return {
            (source, destination)
            for transfer in self.profile.demand.transfers
            for source, destination, _ in transfer.flows(len(self.servers))
        }

    @model_validator(mode="after")
    def _one_server_a_worker(self) -> Job:
        if len(self.servers) != self.profile.num_gpus:
            raise ValueError(
                f"{len(self.servers)} servers for a profile of {self.profile.num_gpus} workers"
            )
        return self


class Arm(BaseModel):
    """One variant of the scenario, ready to be simulated or emulated."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    name: str
    cluster: Cluster
    dedicated: bool
    jobs: tuple[Job, ...]
    iterations: int
    warmup_iterations: int
    interleaver: Literal["none", "cassini"]

    @property
    def networks(self) -> list[tuple[Job, ...]]:
        """The jobs by the copy of the cluster that they run on: all on one, or one on each."""
        return [(job,) for job in self.jobs] if self.dedicated else [self.jobs]

    @property
    def total_iterations(self) -> int:
        """Iterations of each job, warm-up included."""
        return self.warmup_iterations + self.iterations


class Scenario(BaseModel):
    """A checked scenario: its arms on the same workload and seed."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    name: str
    description: str
    seed: int
    scale: ScaleSpec
    arms: tuple[Arm, ...]
    source: YamlSource

    @property
    def text(self) -> str:
        """The file as it was read."""
        return self.source.text

    def locate(self, error: BadInputError, arm: str | None = None) -> BadInputError:
        """``error``, which knows a key, with the file and line of it; in ``arm`` if it is there."""
        path = tuple((error.key or "").split("."))
        where = _where(self.source, () if arm is None else ("arms", arm), path)
        return BadInputError(
            error.problem,
            allowed=error.allowed,
            file=self.source.file,
            line=self.source.line_of(where),
            key=".".join(map(str, where)),
        )


def load_scenario(file: Path) -> Scenario:
    """Read and check a scenario. Raises BadInputError with file, line, key and what is allowed."""
    source = read_yaml(file)
    if not isinstance(source.data, dict):
        raise BadInputError("is not a scenario", allowed="a mapping of keys", file=file, line=1)
    spec = _validate(source, source.data, ())
    sections = {key: source.data.get(key, {}) for key in ("cluster", "workload", "scheduler")}
    overrides: dict[str, ArmSpec] = spec.arms or {spec.name: ArmSpec()}
    arms = []
    for name, override in overrides.items():
        merged = copy.deepcopy(source.data)
        merged.pop("arms", None)
        for section, base in sections.items():
            changes = getattr(override, section)
            if changes:
                merged[section] = {**(base or {}), **changes}
        arms.append(_arm(source, name, _validate(source, merged, ("arms", name))))
    return Scenario(
        name=spec.name,
        description=spec.description,
        seed=spec.seed,
        scale=spec.scale,
        arms=tuple(arms),
        source=source,
    )


def _where(source: YamlSource, arm_path: KeyPath, path: KeyPath) -> KeyPath:
    """``path`` inside the arm where the arm's override has it, else in the base of the file."""
    changed_key = (*arm_path, *path[:2])
    return (*arm_path, *path) if arm_path and changed_key in source.lines else path


def _error(
    source: YamlSource, arm_path: KeyPath, path: KeyPath, problem: str, allowed: str
) -> BadInputError:
    where = _where(source, arm_path, path)
    in_arm = f" in arm {arm_path[-1]!r}" if arm_path and where == path else ""
    return BadInputError(
        problem + in_arm,
        allowed=allowed,
        file=source.file,
        line=source.line_of(where),
        key=".".join(str(part) for part in where),
    )


def _validate(source: YamlSource, data: object, arm_path: KeyPath) -> ScenarioSpec:
    try:
        return ScenarioSpec.model_validate(data)
    except ValidationError as error:
        # A misspelt key is also a missing one; the unknown key is the one to show.
        first = min(error.errors(), key=lambda found: found["type"] != "extra_forbidden")
        path = tuple(part for part in first["loc"] if _is_key(part))
        problem, allowed = _explain(dict(first), path)
        raise _error(source, arm_path, path, problem, allowed) from None


def _is_key(part: str | int) -> bool:
    """Whether pydantic's ``part`` of a location is a key of the file, not a branch of a union."""
    return (
        isinstance(part, int)
        or re.match(r"^(literal\[|function-|constrained-|\[key\])", part) is None
    )


def _keys_allowed_at(path: KeyPath) -> str:
    model: type[BaseModel] = ScenarioSpec
    sections: dict[str, type[BaseModel]] = {
        "cluster": ClusterSpec,
        "workload": WorkloadSpec,
        "jobs": JobSpec,
        "scheduler": SchedulerSpec,
        "scale": ScaleSpec,
        "arms": ArmSpec,
    }
    for part in path[:-1]:
        model = sections.get(str(part), model)
    return ", ".join(model.model_fields)


def _explain(error: dict[str, object], path: KeyPath) -> tuple[str, str]:
    """(problem, allowed) in plain words of one pydantic error."""
    kind, message = str(error["type"]), str(error["msg"])
    given = error.get("input")
    context = error.get("ctx") or {}
    if kind == "extra_forbidden":
        return "unknown key", _keys_allowed_at(path)
    if kind == "missing":
        return "the key is missing", _keys_allowed_at(path)
    if kind == "value_error" and "|" in message:
        problem, allowed = message.removeprefix("Value error, ").split("|", 1)
        return problem, allowed
    if kind == "string_pattern_mismatch":
        return f"{given!r} is not a name", _NAME_ALLOWED
    if path[-2:] == ("scale", "rate_divisor"):
        return f"{given!r} is not allowed here", "'auto', or a number of at least 1"
    if kind in ("enum", "literal_error") and isinstance(context, dict):
        return f"{given!r} is not known", str(context["expected"])
    shown = f"{given!r}" if isinstance(given, str | int | float | bool) else "the value"
    return f"{shown} is not allowed here", re.sub(r"^Input should", "the value should", message)


def _arm(source: YamlSource, name: str, spec: ScenarioSpec) -> Arm:
    arm_path: KeyPath = ("arms", name)
    cluster = spec.cluster.build()
    jobs: list[Job] = []
    for index, job in enumerate(spec.workload.jobs):
        path: KeyPath = ("workload", "jobs", index)
        if job.id in {other.id for other in jobs}:
            raise _error(
                source, arm_path, (*path, "id"), f"{job.id!r} stands twice", "each id once"
            )
        for position, server in enumerate(job.servers):
            if server not in cluster.servers:
                problem = f"there is no server {server!r}"
                raise _error(
                    source,
                    arm_path,
                    (*path, "servers", position),
                    problem,
                    ", ".join(cluster.servers),
                )
        if len(set(job.servers)) != len(job.servers):
            raise _error(source, arm_path, (*path, "servers"), "a server stands twice", "each once")
        jobs.append(
            Job(
                id=job.id,
                profile=_profile(source, arm_path, path, job),
                servers=tuple(job.servers),
                start_s=job.start,
            )
        )
    return Arm(
        name=name,
        cluster=cluster,
        dedicated=spec.cluster.dedicated,
        jobs=tuple(jobs),
        iterations=spec.workload.iterations,
        warmup_iterations=spec.workload.warmup_iterations,
        interleaver=spec.scheduler.interleaver,
    )


def _profile(source: YamlSource, arm_path: KeyPath, path: KeyPath, job: JobSpec) -> ModelProfile:
    if job.profile in RECONSTRUCTED:
        return RECONSTRUCTED[job.profile](len(job.servers))
    file = source.file.parent / job.profile
    if not file.is_file():
        raise _error(
            source,
            arm_path,
            (*path, "profile"),
            f"{job.profile!r} is neither a known model nor a file beside the scenario",
            f"{', '.join(RECONSTRUCTED)}, or the path of a profile",
        )
    profile = read_profile(file)
    if profile.num_gpus != len(job.servers):
        raise _error(
            source,
            arm_path,
            (*path, "servers"),
            f"{len(job.servers)} servers for a profile of {profile.num_gpus} workers",
            f"{profile.num_gpus} servers",
        )
    return profile
