"""Kinds of `trace generate` that papers describe: jobs whose number and sizes are given."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option
from harness.cli.trace_generate_options import seed_option, trace_option
from harness.cli.trace_generated import finish
from harness.cli.trace_output import refuse_existing
from traces.generators.cassini_jobs import dynamic_trace
from traces.generators.cassini_snapshots import SNAPSHOTS, snapshot_trace
from traces.generators.synergy_deployment import deployment_trace
from traces.sensitivity import builtin_sensitivities

_DEPLOYMENT_GPU = "v100"
_MOST_GPUS_A_SERVER = 8
_SNAPSHOTS = {snapshot.id: snapshot for snapshot in SNAPSHOTS}


@click.command()
@trace_option
@click.option(
    "--gpus-per-server",
    type=click.IntRange(1, _MOST_GPUS_A_SERVER),
    default=1,
    show_default=True,
    help="All jobs have so many times as many workers.",
)
@click.option(
    "--meeting",
    is_flag=True,
    help="Batches for which the iteration times of all jobs meet, and VGG16 instead of DLRM.",
)
@seed_option
@json_option
def dynamic(output: Path, gpus_per_server: int, meeting: bool, seed: int, as_json: bool) -> None:
    """CASSINI's dynamic trace, drawn as the paper describes it.

    Four data-parallel jobs that nearly fill 24 servers, and ResNet50 and DLRM that come 5 s and 6 s
    later. One GPU a worker; durations are those without contention at 50 Gbit/s.

    \b
    Example:
      roundelay trace generate dynamic --seed 7 -o jobs.parquet
    """
    refuse_existing(output)
    finish(dynamic_trace(seed, gpus_per_server, meets=meeting), output, as_json=as_json)


@click.command()
@click.argument("name", type=click.Choice(list(_SNAPSHOTS)))
@trace_option
@click.option(
    "--iterations",
    type=click.IntRange(1, 1_000_000),
    default=120,
    show_default=True,
    help="Of each job.",
)
@seed_option
@json_option
def snapshot(name: str, output: Path, iterations: int, seed: int, as_json: bool) -> None:
    """One of CASSINI's snapshots: jobs of two workers that share one link.

    Its name says how many jobs it has, and what they score in hundredths. They start within 0.3 s.

    \b
    Example:
      roundelay trace generate snapshot pair-90 -o jobs.parquet
    """
    refuse_existing(output)
    finish(snapshot_trace(_SNAPSHOTS[name], seed, iterations), output, as_json=as_json)


@click.command("synergy-deployment")
@trace_option
@seed_option
@json_option
def synergy_deployment(output: Path, seed: int, as_json: bool) -> None:
    """100 jobs of one GPU with the statistics of Synergy's deployment trace, about 30 an hour.

    \b
    Example:
      roundelay trace generate synergy-deployment -o jobs.parquet
    """
    refuse_existing(output)
    profiles = builtin_sensitivities("synergy")
    finish(deployment_trace(profiles, _DEPLOYMENT_GPU, seed), output, as_json=as_json)
