"""Pollux' workloads and measurements (petuum/adaptdl, branch osdi21-artifact, ``simulator``).

Times in s, batches in examples. A placement is written as the GPUs on each server, one digit each:
``112`` is four GPUs on three servers. A local batch is that on one GPU.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.formats.csv_table import CsvTable, read_csv_table

WORKLOAD_COLUMNS = ("name", "time", "application", "num_replicas", "batch_size")
PLACEMENT_COLUMNS = ("placement", "local_bsz", "step_time", "sync_time")
SCALABILITY_COLUMNS = ("num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time")
VALIDATION_COLUMNS = ("progress", "iteration", "metric", "grad_sqr", "grad_var")

_WHOLE = "a whole number of 1 or more"
_MOST = 2**31  # examples, GPUs or seconds: more than these is a mistake of columns


def read_pollux_workload(file: Path) -> pd.DataFrame:
    """The jobs of ``file`` as workload_jobs, submitted in whole seconds.

    Raises BadInputError with line and column, as all of these.
    """
    table = read_csv_table(file, WORKLOAD_COLUMNS, has_header=True)
    jobs = workload_jobs(table)
    return jobs.assign(submit_s=_whole_numbers(table, "time", least=0))


def workload_jobs(table: CsvTable) -> pd.DataFrame:
    """The jobs of a workload: ``job``, ``submit_s``, ``application``, and what a user would ask
    for: ``num_gpus`` and ``batch``.
    """
    jobs = pd.DataFrame({"job": table.words("name"), "application": table.words("application")})
    table.refuse(jobs["job"].duplicated().to_numpy(), "name", "an id that no other job has")
    jobs["submit_s"] = table.numbers("time")
    jobs["num_gpus"] = _whole_numbers(table, "num_replicas")
    jobs["batch"] = _whole_numbers(table, "batch_size")
    return jobs


def read_placement_times(file: Path) -> pd.DataFrame:
    """Iterations that were measured: ``placement`` (text of digits), ``num_servers``, ``num_gpus``,
    ``per_gpu``, ``iteration_s`` (one without accumulation) and ``synchronisation_s`` of it.
    """
    table = read_csv_table(file, PLACEMENT_COLUMNS, has_header=True)
    placements = table.words("placement")
    digits = placements.str.fullmatch("[1-9]+").to_numpy(dtype=bool)
    table.refuse(~digits, "placement", "the GPUs on each server, digits from 1 to 9")
    times = pd.DataFrame(
        {
            "placement": placements,
            "num_servers": placements.str.len().astype("int64"),
            "num_gpus": [sum(int(digit) for digit in each) for each in placements],
        }
    )
    return _with_times(table, times)


def read_scalability_times(file: Path) -> pd.DataFrame:
    """As those of placements, where only the numbers of servers and GPUs were noted."""
    table = read_csv_table(file, SCALABILITY_COLUMNS, has_header=True)
    times = pd.DataFrame({"num_servers": _whole_numbers(table, "num_nodes")})
    times["num_gpus"] = _whole_numbers(table, "num_replicas")
    fewer = times["num_gpus"] < times["num_servers"]
    table.refuse(fewer.to_numpy(), "num_replicas", "as many as num_nodes, or more")
    return _with_times(table, times)


def read_validation(file: Path) -> pd.DataFrame:
    """A training with one batch, a row for each epoch: the ``iterations`` until its end, the
    ``progress``, which are those in iterations of the smallest batch, and its gradients' ``square``
    and ``variance``.
    """
    table = read_csv_table(file, VALIDATION_COLUMNS, has_header=True)
    epochs = pd.DataFrame()
    for name, column in (("progress", "progress"), ("iterations", "iteration")):
        epochs[name] = table.numbers(column)
        values = epochs[name].to_numpy()
        wrong = ~(np.isfinite(values) & (np.diff(values, prepend=0.0) > 0))
        table.refuse(wrong, column, "more than in the line before")
    for name, column in (("square", "grad_sqr"), ("variance", "grad_var")):
        epochs[name] = table.numbers(column)
        wrong = ~(np.isfinite(epochs[name].to_numpy()) & (epochs[name].to_numpy() >= 0))
        table.refuse(wrong, column, "0 or more")
    return epochs


def _with_times(table: CsvTable, times: pd.DataFrame) -> pd.DataFrame:
    times["per_gpu"] = _whole_numbers(table, "local_bsz")
    iteration_s, synchronisation_s = table.numbers("step_time"), table.numbers("sync_time")
    table.refuse(~(np.isfinite(iteration_s) & (iteration_s > 0)), "step_time", "above 0 s")
    part = (synchronisation_s >= 0) & (synchronisation_s < iteration_s)
    table.refuse(~part, "sync_time", "0 s or more, less than step_time")
    times["iteration_s"], times["synchronisation_s"] = iteration_s, synchronisation_s
    return times


def _whole_numbers(table: CsvTable, column: str, least: int = 1) -> NDArray[np.int64]:
    values = table.numbers(column)
    whole = (values == np.floor(values)) & (values >= least) & (values <= _MOST)
    table.refuse(~whole, column, _WHOLE if least else "a whole number of 0 or more")
    return values.astype(np.int64)
