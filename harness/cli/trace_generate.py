"""roundelay trace generate: its group, and the kinds whose jobs are independent."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option
from harness.cli.trace_generate_empirical import empirical
from harness.cli.trace_generate_options import (
    durations_option,
    gpu_mix_option,
    jobs_option,
    jobs_per_hour_option,
    models_options,
    num_gpus_option,
    one_rate,
    rho_option,
    seed_option,
    trace_option,
)
from harness.cli.trace_generate_papers import dynamic, snapshot, synergy_deployment
from harness.cli.trace_generated import finish
from harness.cli.trace_output import refuse_existing
from traces.errors import BadInputError
from traces.generators.durations import Durations, PhillyDerived
from traces.generators.job_mix import GPU_MIXES, JobMix, poisson_jobs, static_jobs
from traces.generators.models import Models


@click.group()
def generate() -> None:
    """Make a trace by a formula or from another trace. The same seed makes the same file.

    \b
    Example:
      roundelay trace generate poisson --jobs 1000 --rho 0.8 --num-gpus 128 \\
        --durations exponential:mean=2h --gpu-mix gavel -o jobs.parquet
    """


@generate.command()
@trace_option
@jobs_option
@jobs_per_hour_option
@rho_option
@num_gpus_option
@durations_option
@gpu_mix_option
@models_options
@seed_option
@json_option
def poisson(
    output: Path,
    count: int,
    jobs_per_hour: float | None,
    rho: float | None,
    num_gpus: int | None,
    durations: Durations,
    gpus: dict[int, float],
    models: Models | None,
    seed: int,
    as_json: bool,
) -> None:
    """Jobs that arrive as a Poisson process, at --jobs-per-hour or at a load --rho of --num-gpus.

    Arrivals, durations, GPUs and models are independent. A load is the GPU time asked for over
    what there is: jobs an hour x mean duration x mean GPUs / --num-gpus.

    \b
    Example:
      roundelay trace generate poisson --jobs 1000 --jobs-per-hour 30 \\
        --durations log-normal:median=2h,sigma=1.2 --gpu-mix 1=0.7,8=0.3 -o jobs.parquet
    """
    mix = JobMix(durations, gpus, models)
    rate = _rate(mix, jobs_per_hour, rho, num_gpus)
    refuse_existing(output)
    finish(poisson_jobs(mix, count, rate, seed), output, as_json=as_json)


@generate.command("philly-derived")
@trace_option
@jobs_option
@jobs_per_hour_option
@rho_option
@num_gpus_option
@click.option(
    "--gpu-mix",
    type=click.Choice(list(GPU_MIXES)),
    default="gavel",
    show_default=True,
    help="GPUs: of one each, or Gavel's 1, 2, 4 and 8.",
)
@models_options
@seed_option
@json_option
def philly_derived(
    output: Path,
    count: int,
    jobs_per_hour: float | None,
    rho: float | None,
    num_gpus: int | None,
    gpu_mix: str,
    models: Models | None,
    seed: int,
    as_json: bool,
) -> None:
    """Jobs as Gavel derives them from Philly's, which Synergy's figures rest on too.

    Poisson arrivals; minutes of 10^U(1.5, 3) for four of five and 10^U(3, 4) for the fifth, 16.8 h
    in the mean; 1, 2, 4 or 8 GPUs for 70, 10, 15 and 5 %.

    \b
    Example:
      roundelay trace generate philly-derived --jobs 5000 --rho 0.8 --num-gpus 128 \\
        --split image=20,language=70,speech=10 -o jobs.parquet
    """
    mix = JobMix(PhillyDerived(), GPU_MIXES[gpu_mix], models)
    rate = _rate(mix, jobs_per_hour, rho, num_gpus)
    refuse_existing(output)
    finish(poisson_jobs(mix, count, rate, seed), output, as_json=as_json)


def _rate(
    mix: JobMix, jobs_per_hour: float | None, rho: float | None, num_gpus: int | None
) -> float:
    """Jobs an hour. Raises BadInputError where they are not said, or twice."""
    one_rate(num_gpus, jobs_per_hour=jobs_per_hour, rho=rho)
    if jobs_per_hour is not None:
        return jobs_per_hour
    if rho is None or num_gpus is None:
        allowed = "--jobs-per-hour, or --rho with --num-gpus"
        raise BadInputError("how often jobs arrive is not said", allowed=allowed)
    return mix.jobs_per_hour_at(rho, num_gpus)


@generate.command()
@trace_option
@jobs_option
@durations_option
@gpu_mix_option
@models_options
@seed_option
@json_option
def static(
    output: Path,
    count: int,
    durations: Durations,
    gpus: dict[int, float],
    models: Models | None,
    seed: int,
    as_json: bool,
) -> None:
    """Jobs that are all there from the beginning.

    \b
    Example:
      roundelay trace generate static --jobs 100 --durations philly-derived \\
        --split image=20,language=70,speech=10 -o jobs.parquet
    """
    refuse_existing(output)
    finish(static_jobs(JobMix(durations, gpus, models), count, seed), output, as_json=as_json)


for kind in (dynamic, snapshot, empirical, synergy_deployment):
    generate.add_command(kind)
