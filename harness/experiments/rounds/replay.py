"""Reads the schedule that a run directory recorded, to be replayed on the same workload."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from harness.experiments.rounds.workload import Workload
from harness.job_table import Flags, Floats, Ints
from harness.scheduling.allocation import Allocation
from harness.scheduling.recorded import RecordedLeases, RecordedSchedule
from traces.errors import BadInputError
from traces.rounds_results import LEASE_USE, ROUNDS
from traces.rounds_scenario import RoundsArm

_COLUMNS = [name for name in ROUNDS.names if name not in LEASE_USE.names]
_AMOUNTS = ["cpus", "memory_bytes", "storage_bytes_per_s"]
_CLOSE = 1e-6
_ANOTHER = "a recording of the same workload on the same cluster"


def read_recorded(
    directory: Path, recorded_arm: str, recorded_seed: int, arm: RoundsArm, workload: Workload
) -> RecordedSchedule:
    """The schedule of ``recorded_arm`` with ``recorded_seed`` in ``directory``, for ``workload``.

    The workload is that of ``arm``, on whose cluster and in whose rounds it is replayed. Raises
    BadInputError, with the file, where the recording is damaged or of another workload or cluster.
    """
    file = directory / "rounds.parquet"
    try:
        rows = _rows_of(file, recorded_arm, recorded_seed)
        leases = _leases_of(rows, arm, workload)
        _check(leases, arm, workload)
    except BadInputError as error:
        raise BadInputError(error.problem, allowed=error.allowed, file=file) from None
    return RecordedSchedule(leases, arm.pool, arm.scheduler.round)


def _rows_of(file: Path, arm: str, seed: int) -> pd.DataFrame:
    """Rows of the leases of one run."""
    allowed = "a run directory of a scenario of rounds, or its 'simulated' or 'emulated'"
    if not file.is_file():
        raise BadInputError("there is no such file", allowed=allowed)
    try:
        rows = pd.read_parquet(file, columns=_COLUMNS)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BadInputError(f"cannot be read: {reason}", allowed=allowed) from None
    for column, wanted in (("arm", arm), ("seed", seed)):
        known = rows[column].unique().tolist()
        rows = rows[rows[column] == wanted]
        if not len(rows):
            raise BadInputError(
                f"has no leases of {column} {wanted!r}",
                allowed=", ".join(map(str, known)) or "a run that gave out leases",
            )
    numbers = rows[["server", "gpus", *_AMOUNTS, "from_s", "until_s"]].to_numpy(dtype=float)
    if rows.isna().to_numpy().any() or not np.isfinite(numbers).all():
        raise BadInputError("a lease lacks a value", allowed="finite numbers")
    return rows.reset_index(drop=True)


def _leases_of(rows: pd.DataFrame, arm: RoundsArm, workload: Workload) -> RecordedLeases:
    """Rows of one lease have its job and begin in common."""
    pool, round_s = arm.pool, arm.scheduler.round
    names = pd.Index(workload.jobs["job"].astype(str))
    number: Ints = names.get_indexer(pd.Index(rows["job"])).astype(np.int64)
    _refuse(number < 0, rows["job"], "is not in this workload", _ANOTHER)
    begins = rows["from_s"].to_numpy() / round_s
    first_round: Ints = np.rint(begins).astype(np.int64)
    # Rounding is relative; a multiple of a short round may be large.
    off = np.abs(begins - first_round) > _CLOSE * np.maximum(1.0, begins * 1e-6)
    allowed = f"rounds of {round_s:g} s"
    _refuse(off, rows["job"], "has a lease that does not begin at a round's start", allowed)
    server = rows["server"].to_numpy(dtype=np.int64)
    outside = (server < 0) | (server >= pool.num_servers)
    allowed = f"servers 0 to {pool.num_servers - 1}"
    _refuse(outside, rows["job"], "has a lease on a server that the cluster lacks", allowed)
    gpus = rows["gpus"].to_numpy(dtype=float)
    parts = (gpus != np.rint(gpus)) | (gpus < 1)
    _refuse(parts, rows["job"], "has a lease of a part of a GPU", "whole GPUs")

    order = np.lexsort((first_round, number))
    number, first_round, server = number[order], first_round[order], server[order]
    counts = gpus[order].astype(np.int64)
    begins_lease = np.append(
        True, (number[1:] != number[:-1]) | (first_round[1:] != first_round[:-1])
    )
    heads = np.flatnonzero(begins_lease)
    of_lease = np.cumsum(begins_lease) - 1
    row_type = np.searchsorted(pool.first_server, server, side="right") - 1
    share = rows[_AMOUNTS].to_numpy(dtype=float)[order] / counts[:, None]
    alike = np.isclose(share, share[heads][of_lease], rtol=_CLOSE).all(axis=1)
    alike &= row_type == row_type[heads][of_lease]
    _refuse(~alike, rows["job"].iloc[order], "has GPUs in one lease that are not alike", _ANOTHER)
    until_s = np.maximum.reduceat(rows["until_s"].to_numpy()[order], heads)
    job, gpu_type = number[heads], row_type[heads]
    share, iteration_s = _known_shares(job, gpu_type, share[heads], workload)
    allocation = Allocation(
        jobs=job,
        gpu_type=gpu_type,
        offsets=np.append(heads, len(server)),
        servers=server,
        gpus=counts,
        share=share,
        iteration_s=iteration_s,
        held_to_fair_share=rows["held_to_fair_share"].to_numpy(dtype=np.bool_)[order][heads],
    )
    end_round = np.ceil(until_s / round_s - _CLOSE).astype(np.int64)
    return RecordedLeases(allocation, first_round[heads], end_round)


def _known_shares(
    job: Ints, gpu_type: Ints, share: Floats, workload: Workload
) -> tuple[Floats, Floats]:
    """(shares, iteration_s with them): exactly the wish or the fair share that each lease held."""
    demands, kind = workload.demands, workload.table.kind[job]
    wish, fair = demands.wish[kind, gpu_type], demands.fair[kind, gpu_type]
    is_wish: Flags = np.all(np.isclose(share, wish, rtol=_CLOSE), axis=1)
    is_fair: Flags = np.all(np.isclose(share, fair, rtol=_CLOSE), axis=1)
    iteration_s = np.where(
        is_wish, demands.wish_iteration_s[kind, gpu_type], demands.fair_iteration_s[kind, gpu_type]
    )
    strange: Flags = ~(is_wish | is_fair) | ~np.isfinite(iteration_s)
    _refuse(
        strange,
        workload.jobs["job"].iloc[job],
        "held neither what it wishes for here nor its fair share",
        "a recording with the same servers and profiles",
    )
    return np.where(is_wish[:, None], wish, fair), iteration_s


def _check(leases: RecordedLeases, arm: RoundsArm, workload: Workload) -> None:
    """Refuse leases that this workload's jobs cannot have held one after the other."""
    recorded, names = leases.allocation, workload.jobs["job"]
    job, num_gpus = recorded.jobs, workload.table.num_gpus
    gpus = np.add.reduceat(recorded.gpus, recorded.offsets[:-1])
    of_lease = names.iloc[job]
    _refuse(gpus != num_gpus[job], of_lease, "asked for another number of GPUs", _ANOTHER)
    empty = leases.end_round <= leases.first_round
    overlaps = (job[1:] == job[:-1]) & (leases.first_round[1:] < leases.end_round[:-1])
    wrong = empty | np.append(overlaps, False)
    allowed = "leases that follow one another"
    _refuse(wrong, of_lease, "has a lease that overlaps another, or holds no round", allowed)
    capacity = np.column_stack([arm.pool.gpus, arm.pool.resources]) * (1 + _CLOSE)
    too_much = [
        bool((leases.used(lease) > capacity[recorded.servers[leases.rows(lease)]]).any())
        for lease in range(len(job))
    ]
    _refuse(np.array(too_much), of_lease, "holds more than its server has", _ANOTHER)
    never = workload.measured & ~np.isin(np.arange(len(names)), job)
    _refuse(never, names, "counts, and was never given a lease", "a recording that was not stopped")


def _refuse(wrong: Flags, jobs: pd.Series, problem: str, allowed: str) -> None:
    if wrong.any():
        raise BadInputError(f"job {jobs.iloc[int(np.argmax(wrong))]!r} {problem}", allowed=allowed)
