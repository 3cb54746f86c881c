"""DLRM (Naumov et al. 2019): embedding tables spread over the workers, MLPs on every worker.

The configuration is the one of TopoOpt's published scripts (github.com/hipersys-team/TopoOpt,
simulation/scripts/fig11_17/dlrm128_fattree.sh), by CASSINI's authors' group; CASSINI's own could
not be read. The tables' rows matter to memory alone, and are left out.
"""

from __future__ import annotations

from itertools import pairwise

from traces.demand import Demand, Pattern, Transfer
from traces.models.collectives import all_to_all_wire_bytes, ring_all_reduce_wire_bytes
from traces.models.gpu import (
    ASSUMED_UTILISATION,
    FLOAT32,
    FORWARD_AND_BACKWARD,
    MEMORY_BYTES_PER_S,
    compute_s,
    words_on_compute,
)
from traces.models.known_model import KnownModel, Reconstruction
from traces.models.layers import ModelSize, fully_connected, total

TABLES = 64
COLUMNS = 128  # of each table
LOOKUPS = 100  # rows of each table that a sample sums up
_BOTTOM_WIDTHS = (2048,) * 8
_TOP_WIDTHS = (_BOTTOM_WIDTHS[-1] + TABLES * COLUMNS, *(4096,) * 15, 1)
"""Its input is the bottom's output and every table's row, one behind the other."""

_LOOKED_UP_BYTES = TABLES * COLUMNS * FLOAT32.number_bytes  # of one sample, summed up


def _mlp(widths: tuple[int, ...]) -> ModelSize:
    return total(fully_connected(inputs, outputs) for inputs, outputs in pairwise(widths))


BOTTOM = _mlp(_BOTTOM_WIDTHS)
TOP = _mlp(_TOP_WIDTHS)


def dlrm(num_workers: int, batch_per_gpu: int) -> Reconstruction:
    """One GPU a worker, which holds 1/n of the tables and looks the whole job's batch up in them.

    Bottom MLP and look-ups, then all rows go to the workers of their samples (all-to-all); top MLP
    forward and backward, then the rows' gradients go back (all-to-all); bottom MLP backward and
    the tables' update; then the gradients of the MLPs are summed (ring all-reduce). Both
    all-to-alls hold the compute up, for little can be done meanwhile. Look-ups take memory
    bandwidth: rows are read once forward, read and written backward.
    """
    bottom_s = compute_s(BOTTOM.forward_macs * batch_per_gpu, FLOAT32)
    top_s = compute_s(TOP.forward_macs * batch_per_gpu, FLOAT32)
    lookup_s = (
        batch_per_gpu * LOOKUPS * _LOOKED_UP_BYTES / (MEMORY_BYTES_PER_S * ASSUMED_UTILISATION)
    )
    rows_ready_s = bottom_s / FORWARD_AND_BACKWARD + lookup_s
    gradients_ready_s = rows_ready_s + top_s
    computed_s = bottom_s + top_s + 3 * lookup_s
    mlps = BOTTOM + TOP
    return Reconstruction(
        Demand(
            computed_s,
            _transfers(num_workers, batch_per_gpu, rows_ready_s, gradients_ready_s, computed_s)
            if num_workers > 1
            else (),
        ),
        f"MLPs and tables of TopoOpt's published scripts: {mlps.parameters:,} parameters in "
        f"{FLOAT32.name} in the MLPs, ring all-reduce after the backward pass; {TABLES} tables of "
        f"{COLUMNS} columns, {LOOKUPS} look-ups each, all-to-all forward and backward; "
        f"{words_on_compute(mlps.forward_macs, FLOAT32, batch_per_gpu)}, look-ups at as much of "
        f"{MEMORY_BYTES_PER_S / 1e9:.0f} GB/s",
    )


def _transfers(
    num_workers: int,
    batch_per_gpu: int,
    rows_ready_s: float,
    gradients_ready_s: float,
    computed_s: float,
) -> tuple[Transfer, ...]:
    rows_bytes = all_to_all_wire_bytes(batch_per_gpu * _LOOKED_UP_BYTES, num_workers)
    mlp_bytes = (BOTTOM + TOP).parameters * FLOAT32.number_bytes
    all_reduce_bytes = ring_all_reduce_wire_bytes(mlp_bytes, num_workers)
    return (
        Transfer(rows_ready_s, rows_bytes, Pattern.ALL_TO_ALL, blocking=True, name="rows"),
        Transfer(
            gradients_ready_s,
            rows_bytes,
            Pattern.ALL_TO_ALL,
            blocking=True,
            name="rows' gradients",
        ),
        Transfer(computed_s, all_reduce_bytes, Pattern.RING, name="all-reduce"),
    )


DLRM = KnownModel(
    name="dlrm",
    reconstruct=dlrm,
    default_batch=1024,
    recalled_batches=(16, 1024),
    workers=range(1, TABLES + 1),
)
