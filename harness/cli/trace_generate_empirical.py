"""roundelay trace generate empirical: more jobs like those of a trace."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli.options import json_option
from harness.cli.trace_generate_options import (
    factor_option,
    jobs_per_hour_option,
    length_option,
    models_options,
    most_jobs_option,
    num_gpus_option,
    one_rate,
    rho_option,
    seed_option,
    trace_option,
)
from harness.cli.trace_generated import finish
from harness.cli.trace_output import refuse_existing
from traces.errors import BadInputError
from traces.formats.traces import read_jobs
from traces.generators.empirical import EmpiricalJobs
from traces.generators.models import Models
from traces.generators.repeating_rate import PERIODS, Period


@click.command()
@click.argument("source", metavar="TRACE", type=click.Path(path_type=Path))
@trace_option
@most_jobs_option
@length_option
@factor_option
@jobs_per_hour_option
@rho_option
@num_gpus_option
@click.option(
    "--period",
    type=click.Choice(list(PERIODS)),
    default="week",
    show_default=True,
    help="What repeats: arrivals follow the hour of the week, of the day, or neither.",
)
@click.option(
    "--same-hour", is_flag=True, help="Draw each job from those of the same hour of the period."
)
@models_options
@seed_option
@json_option
def empirical(
    source: Path,
    output: Path,
    count: int | None,
    length_s: float | None,
    factor: float | None,
    jobs_per_hour: float | None,
    rho: float | None,
    num_gpus: int | None,
    period: Period,
    same_hour: bool,
    models: Models | None,
    seed: int,
    as_json: bool,
) -> None:
    """Jobs like those of TRACE: at its rate by the hour of the week, each a copy of one of its.

    A Poisson process with TRACE's own rate of each hour, times --factor, or so that the mean is
    --jobs-per-hour or the load --rho of --num-gpus. Sizes, durations, models and users go together
    as in TRACE. Models are drawn only for jobs that have none there. TRACE has any format whose
    content tells it (`roundelay trace formats`); any other file has to be converted first.

    \b
    Example:
      roundelay trace generate empirical philly.csv --length '4 weeks' \\
        --rho 0.8 --num-gpus 512 -o jobs.parquet
    """
    one_rate(num_gpus, factor=factor, jobs_per_hour=jobs_per_hour, rho=rho)
    if count is None and length_s is None:
        raise BadInputError("where the trace ends is not said", allowed="--length or --jobs")
    refuse_existing(output)
    found = read_jobs(source)
    try:
        jobs = EmpiricalJobs.of(found, period, same_hour=same_hour)
        if jobs_per_hour is not None:
            factor = jobs_per_hour / jobs.rate.jobs_per_hour
        elif rho is not None and num_gpus is not None:
            factor = rho * num_gpus / jobs.offered_gpus()
        trace = jobs.draw(seed, factor=factor or 1.0, count=count, length_s=length_s, models=models)
    except BadInputError as error:
        raise BadInputError(
            error.problem, allowed=error.allowed, file=error.file or source, key=error.key
        ) from None
    finish(trace, output, as_json=as_json)
