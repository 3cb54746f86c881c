"""Writes the run directory of a scenario of rounds, table by table as the runs end."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.experiments.rounds.figures import job_states
from harness.experiments.rounds.run import RoundsResult
from harness.experiments.rounds.workload import Workload
from harness.leases import EndedLeases
from traces.provenance import provenance
from traces.rounds_results import JOBS, LEASE_USE, ROUNDS
from traces.rounds_scenario import RoundsArm, RoundsScenario
from traces.run_directory import write_json

_ROWS_AT_ONCE = 1_000_000

LeaseUseColumns = Mapping[str, Sequence[float | int | None]]


@dataclass(frozen=True)
class _Leases:
    arm: str
    seed: int
    workload: Workload
    rows: EndedLeases
    use: LeaseUseColumns | None


class RoundsStore:
    """The tables while they grow. A context: closes the files, whatever happens."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._jobs = pq.ParquetWriter(directory / "jobs.parquet", JOBS)
        self._rounds = pq.ParquetWriter(directory / "rounds.parquet", ROUNDS)
        self._pending: list[_Leases] = []
        self._pending_rows = 0

    def __enter__(self) -> RoundsStore:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._flush()
        self._jobs.close()
        self._rounds.close()

    def add_leases(
        self,
        arm: RoundsArm,
        seed: int,
        workload: Workload,
        rows: EndedLeases,
        use: LeaseUseColumns | None = None,
    ) -> None:
        """Leases that ended. They are few at a time, and become a table when they are many.

        use: columns of LEASE_USE where the run is emulated.
        """
        self._pending.append(_Leases(arm.name, seed, workload, rows, use))
        self._pending_rows += len(rows.job)
        if self._pending_rows >= _ROWS_AT_ONCE:
            self._flush()

    def add_jobs(self, result: RoundsResult) -> None:
        """The jobs of a run that is over."""
        workload, table = result.workload, result.workload.table
        count = len(table)
        models = [workload.demands.kinds[kind].model for kind in table.kind]
        self._jobs.write_table(
            pa.table(
                {
                    "arm": pa.repeat(result.arm.name, count),
                    "seed": pa.repeat(pa.scalar(result.seed, pa.int64()), count),
                    "job": pa.array(workload.jobs["job"].to_numpy(), pa.string()),
                    "model": pa.array([model or None for model in models], pa.string()),
                    "num_gpus": table.num_gpus,
                    "iterations": table.iterations,
                    "alone_s": workload.alone_s,
                    "submit_s": table.submit_s,
                    "start_s": _or_null(table.start_s),
                    "finish_s": _or_null(table.finish_s),
                    "jct_s": _or_null(table.finish_s - table.submit_s),
                    "attained_s": table.attained_s,
                    "leases": table.leases,
                    "requeued": table.requeued,
                    "counted": workload.measured,
                    "state": pa.array(job_states(result), pa.string()),
                },
                schema=JOBS,
            )
        )

    def _flush(self) -> None:
        for _, of_run in itertools.groupby(
            self._pending, key=lambda leases: (leases.arm, leases.seed)
        ):
            self._rounds.write_table(_lease_table(list(of_run)))
        self._pending, self._pending_rows = [], 0


def _lease_table(leases: list[_Leases]) -> pa.Table:
    """The rows of one arm and seed."""
    columns = {
        field.name: np.concatenate([getattr(each.rows, field.name) for each in leases])
        for field in fields(EndedLeases)
    }
    first, count = leases[0], len(columns["job"])
    uses = [each.use for each in leases]
    names = first.workload.jobs["job"].to_numpy(dtype=object)
    return pa.table(
        {
            "arm": pa.repeat(first.arm, count),
            "seed": pa.repeat(pa.scalar(first.seed, pa.int64()), count),
            **columns,
            "job": pa.array(names[columns["job"]], pa.string()),
            "gpus": columns["gpus"].astype(float),
            **{
                field.name: pa.nulls(count, field.type)
                if None in uses
                else pa.array([v for use in uses if use for v in use[field.name]], field.type)
                for field in LEASE_USE
            },
        },
        schema=ROUNDS,
    )


def _or_null(times_s: np.ndarray[Any, np.dtype[np.float64]]) -> pa.Array:
    return pa.array(times_s, pa.float64(), from_pandas=True)


def write_documents(directory: Path, scenario: RoundsScenario, summary: dict[str, Any]) -> None:
    """scenario.yaml, provenance.json and summary.json."""
    (directory / "scenario.yaml").write_text(scenario.text, encoding="utf-8")
    document = provenance(scenario.text, scenario.seeds[0])
    document["workloads"] = sorted(
        {run["source"] for arm in summary["arms"] for run in arm["runs"]}
    )
    document["profiles"] = {
        arm.name: arm.sensitivities.description if arm.sensitivities else "none"
        for arm in scenario.arms
    }
    document["simulation"] = {arm.name: arm.simulation.model_dump() for arm in scenario.arms}
    write_json(directory / "provenance.json", document)
    write_json(directory / "summary.json", summary)
