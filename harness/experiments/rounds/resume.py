"""The state of a run of rounds between two rounds, on disk: what it goes on from after a kill."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emulator.rounds.checkpoint import Checkpoint, from_document, to_document
from emulator.rounds.scale import RoundsScale
from harness.experiments.rounds.workload import Workload
from harness.job_table import JobTable
from harness.leases import Leases
from harness.rounds import Position
from harness.scheduling.allocation import Allocation
from harness.scheduling.policies import POLICIES
from harness.scheduling.scheduler import Scheduler, SchedulerState
from traces.errors import BadInputError
from traces.rounds_scenario import RoundsArm
from traces.run_directory import read_json

_VERSION = 1
_NEEDED = ("submit_s", "ready_s", "kind", "num_gpus", "iterations")
_PROGRESS = (
    "done_iterations",
    "attained_s",
    "start_s",
    "finish_s",
    "last_served_s",
    "leases",
    "requeued",
    "left_s",
    "left_as",
)
_DEMANDS = ("wish", "fair", "wish_iteration_s", "fair_iteration_s")

Identity = Mapping[str, Any]


@dataclass(frozen=True)
class KeptState:
    """Where the state of a run is kept. resumes: whether the run goes on from what is there."""

    file: Path
    scenario_text: str
    resumes: bool = False


@dataclass(frozen=True)
class RunState:
    """All that a run between two rounds goes on from.

    progress: columns of the JobTable, (jobs,). from_s: (jobs,) see Leases. incidents: until now.
    """

    position: Position
    progress: Mapping[str, NDArray[Any]]
    scheduler: SchedulerState
    from_s: NDArray[np.float64]
    checkpoints: Mapping[str, Checkpoint]
    incidents: tuple[str, ...] = ()

    @staticmethod
    def of(
        table: JobTable,
        position: Position,
        scheduler: Scheduler,
        leases: Leases,
        checkpoints: Mapping[str, Checkpoint],
        incidents: Sequence[str] = (),
    ) -> RunState:
        """As it is now. The columns are not copied."""
        return RunState(
            position=position,
            progress={name: getattr(table, name) for name in _PROGRESS},
            scheduler=scheduler.state,
            from_s=leases.from_s,
            checkpoints=checkpoints,
            incidents=tuple(incidents),
        )

    def restore(self, table: JobTable, scheduler: Scheduler, leases: Leases) -> None:
        """Put those that are new into this state."""
        for name, column in self.progress.items():
            getattr(table, name)[:] = column
        scheduler.resume(self.scheduler)
        leases.resume(self.scheduler.before, self.from_s)


def check_resumable(arm: RoundsArm) -> None:
    """BadInputError where ``arm`` has a state that is not in a RunState."""
    make = POLICIES[arm.scheduler.policy]
    # A policy without a history is one and the same for all runs.
    refused = {
        "scheduler.policy": (make() is not make(), arm.scheduler.policy),
        "scheduler.mechanism": (arm.scheduler.mechanism == "opt", "opt"),
        "simulation.restarts": (arm.simulation.restarts == "all", "all"),
    }
    for key, (is_refused, value) in refused.items():
        if is_refused:
            raise BadInputError(
                f"a run with {value!r} cannot go on after it was interrupted: it rests on a "
                "history that is not kept",
                allowed="a new run",
                key=key,
            )


def identity_of(
    scenario_text: str,
    arm: RoundsArm,
    seed: int,
    workload: Workload,
    scale: RoundsScale | None = None,
) -> Identity:
    """What has to be the same for a run to go on; the scale where it is emulated."""
    jobs = hashlib.sha256("\0".join(workload.jobs["job"].astype(str)).encode())
    for owner, names in ((workload.table, _NEEDED), (workload.demands, _DEMANDS)):
        for name in names:
            jobs.update(np.ascontiguousarray(getattr(owner, name)).tobytes())
    return {
        "scenario": hashlib.sha256(scenario_text.encode()).hexdigest(),
        "arm": arm.name,
        "seed": seed,
        "jobs": jobs.hexdigest(),
        "scale": asdict(scale.divisors) if scale else None,
    }


def save_state(file: Path, identity: Identity, state: RunState) -> None:
    """Write ``state`` in place of what was in ``file``: a kill leaves the one or the other."""
    document = {
        "version": _VERSION,
        "identity": identity,
        "position": asdict(state.position),
        "progress": {name: _plain(column) for name, column in state.progress.items()},
        "before": {name: _plain(column) for name, column in vars(state.scheduler.before).items()},
        "last_iteration_s": _plain(state.scheduler.last_iteration_s),
        "has_priority": _plain(state.scheduler.has_priority),
        "from_s": _plain(state.from_s),
        "checkpoints": to_document(dict(state.checkpoints)),
        "incidents": state.incidents,
    }
    beside = file.with_name(f"{file.name}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
    with os.fdopen(os.open(beside, flags, 0o600), "w", encoding="utf-8") as stream:
        stream.write(json.dumps(document, allow_nan=False))
    beside.replace(file)


def load_state(file: Path, identity: Identity, jobs: int) -> RunState:
    """The state in ``file``. jobs: of the table that goes on.

    Raises BadInputError where it cannot be read, is damaged or is not of the run ``identity``.
    """
    document = read_json(file)
    allowed = "the state of a run of the same scenario, as it was when the run began"
    try:
        if document["version"] != _VERSION:
            raise BadInputError("is of another version", allowed=f"version {_VERSION}", file=file)
        for key, value in identity.items():
            if document["identity"][key] != value:
                raise BadInputError(f"is of another {key}", allowed=allowed, file=file)
        state = _state_of(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(f"is damaged: {error!r}", allowed=allowed, file=file) from None
    columns = (*state.progress.values(), state.from_s, state.scheduler.last_iteration_s)
    if any(len(column) != jobs for column in columns):
        problem = f"is damaged: not all columns have {jobs} jobs"
        raise BadInputError(problem, allowed=allowed, file=file)
    return state


def _state_of(document: Mapping[str, Any]) -> RunState:
    like = Allocation.nothing()
    before = {
        name: _array(column, getattr(like, name)) for name, column in document["before"].items()
    }
    none = JobTable.of(*(np.empty(0) for _ in _NEEDED[:4]))  # type: ignore[arg-type]
    return RunState(
        position=Position(**document["position"]),
        progress={
            name: _array(document["progress"][name], getattr(none, name)) for name in _PROGRESS
        },
        scheduler=SchedulerState(
            before=Allocation(**before),
            last_iteration_s=np.array(document["last_iteration_s"], dtype=float),
            has_priority=np.array(document["has_priority"], dtype=np.bool_),
        ),
        from_s=np.array(document["from_s"], dtype=float),
        checkpoints=from_document(document["checkpoints"]),
        incidents=tuple(document["incidents"]),
    )


def _plain(column: NDArray[Any]) -> list[Any]:
    """Lists that JSON carries: not-a-number as null."""
    if column.dtype.kind != "f" or not np.isnan(column).any():
        return list(column.tolist())
    return [None if value != value else value for value in column.tolist()]


def _array(values: Sequence[Any], like: NDArray[Any]) -> NDArray[Any]:
    """The other way round, with the type of ``like`` and its shape but for the first axis."""
    return np.array(values, dtype=like.dtype).reshape(-1, *like.shape[1:])
