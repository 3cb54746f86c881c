"""Options of `trace generate`, and what they make: distributions, rates, models."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from harness.cli.options import Decorator
from traces.errors import BadInputError
from traces.generators.durations import parse_durations
from traces.generators.empirical import MAX_JOBS
from traces.generators.job_mix import GPU_MIXES
from traces.generators.model_table import read_model_table
from traces.generators.models import ClassSplit, Models
from traces.job_trace import MAX_GPUS
from traces.quantities import parse_duration_s
from traces.rounds_scenario import MAX_SEED
from traces.sensitivity import BUILTIN, Sensitivities, builtin_sensitivities, read_sensitivities

Value = TypeVar("Value")

_DEFAULT_PROFILES = "synergy"
_LEAST, _MOST = 1e-9, 1e9  # of rates and weights


def _positive(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    del context
    if value is not None and not _LEAST <= value <= _MOST:
        allowed = f"a number from {_LEAST:g} to {_MOST:g}"
        raise BadInputError(f"{value:g} is out of range", allowed=allowed, key=option.opts[0])
    return value


def _parsed(parse: Callable[[str], Value]) -> Callable[..., Value | None]:
    """A callback; ``parse`` raises ValueError (message and what is allowed, split by '|')."""

    def parsed(context: click.Context, option: click.Parameter, text: str | None) -> Value | None:
        del context
        try:
            return None if text is None else parse(text)
        except ValueError as error:
            problem, _, allowed = str(error).partition("|")
            raise BadInputError(problem, allowed=allowed, key=option.opts[0]) from None

    return parsed


def parse_weights(text: str) -> dict[str, float]:
    """'image=20,speech=10' -> their weights. ValueError as of traces.quantities."""
    weights: dict[str, float] = {}
    for pair in text.split(","):
        name, _, number = (part.strip() for part in pair.partition("="))
        try:
            weight = float(number)
        except ValueError:
            weight = math.nan
        if not (name and name not in weights and _LEAST <= weight <= _MOST):
            allowed = f"NAME=WEIGHT,..., each name once, from {_LEAST:g} to {_MOST:g}"
            raise ValueError(f"{pair!r} is no weight|{allowed}")
        weights[name] = weight
    return weights


def parse_gpu_mix(text: str) -> dict[int, float]:
    """The name of a mix, or '1=3,8=1' -> shares by number of GPUs. ValueError as above."""
    if text in GPU_MIXES:
        return dict(GPU_MIXES[text])
    allowed = f"{', '.join(GPU_MIXES)}, or weights by number of GPUs such as 1=0.7,8=0.3"
    if "=" not in text:
        raise ValueError(f"{text!r} is no mix of GPUs|{allowed}")
    weights = parse_weights(text)
    for number in weights:
        if not (number.isascii() and number.isdigit() and 1 <= int(number) <= MAX_GPUS):
            raise ValueError(f"{number!r} is no number of GPUs|{allowed}")
    total = sum(weights.values())
    return {int(number): weight / total for number, weight in weights.items()}


def _parse_length_s(text: str) -> float:
    length_s = parse_duration_s(text)
    if length_s == 0:
        raise ValueError(f"{text!r} is no time|a time above 0 with its unit, such as '4 weeks'")
    return length_s


trace_option: Decorator = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The trace to write, a new file (Parquet).",
)
seed_option: Decorator = click.option(
    "--seed",
    type=click.IntRange(0, MAX_SEED),
    default=1,
    show_default=True,
    help="The same seed makes the same file.",
)
jobs_option: Decorator = click.option(
    "--jobs", "count", type=click.IntRange(1, MAX_JOBS), required=True, help="How many jobs."
)
most_jobs_option: Decorator = click.option(
    "--jobs", "count", type=click.IntRange(1, MAX_JOBS), help="At most so many jobs."
)
length_option: Decorator = click.option(
    "--length",
    "length_s",
    metavar="'4 weeks'",
    callback=_parsed(_parse_length_s),
    help="Jobs that arrive within this time.",
)
durations_option: Decorator = click.option(
    "--durations",
    metavar="NAME:PARAMETERS",
    required=True,
    callback=_parsed(parse_durations),
    help="philly-derived, constant:value=1h, exponential:mean=2h, log-normal:median=2h,sigma=1.2, "
    "uniform:least=10min,most=4h, or log-uniform:least=10min,most=4h.",
)
gpu_mix_option: Decorator = click.option(
    "--gpu-mix",
    "gpus",
    metavar="MIX",
    default="single",
    show_default=True,
    callback=_parsed(parse_gpu_mix),
    help="single, gavel (1, 2, 4 and 8), or weights by number of GPUs: 1=0.7,8=0.3.",
)
jobs_per_hour_option: Decorator = click.option(
    "--jobs-per-hour", type=float, callback=_positive, help="Arrivals an hour, in the mean."
)
rho_option: Decorator = click.option(
    "--rho",
    type=float,
    callback=_positive,
    help="Arrivals that ask for this share of --num-gpus: 1 for as much as there is.",
)
num_gpus_option: Decorator = click.option(
    "--num-gpus", type=click.IntRange(1, MAX_GPUS), help="GPUs of the cluster of --rho."
)
factor_option: Decorator = click.option(
    "--factor",
    type=float,
    callback=_positive,
    help="Arrivals as a multiple of the trace's own. Default: 1.",
)


def one_rate(num_gpus: int | None, **rates: float | None) -> None:
    """Refuse two ``rates``, and ``rho`` and ``num_gpus`` without each other."""
    given = [f"--{name.replace('_', '-')}" for name, rate in rates.items() if rate is not None]
    if len(given) > 1:
        raise BadInputError(f"stands beside {given[0]}", allowed="one of them", key=given[1])
    if rates["rho"] is not None and num_gpus is None:
        raise BadInputError(
            "of how many GPUs is not said", allowed="--num-gpus beside it", key="--rho"
        )
    if rates["rho"] is None and num_gpus is not None:
        raise BadInputError("changes nothing", allowed="beside --rho only", key="--num-gpus")


def models_options(command: Callable[..., None]) -> Callable[..., None]:
    """Adds the options that say what jobs train; ``command`` gets them as ``models``."""

    @click.option(
        "--split",
        metavar="CLASS=WEIGHT,...",
        callback=_parsed(parse_weights),
        help="Draw models by class: image=20,language=70,speech=10.",
    )
    @click.option(
        "--profiles",
        metavar="NAME|FILE",
        help=f"Whose models --split draws from.  [default: {_DEFAULT_PROFILES}]",
    )
    @click.option(
        "--model-table",
        type=click.Path(path_type=Path),
        help="Draw models by a CSV file with the columns model, weight, and num_gpus or "
        "duration_s, each row for jobs with so much or more.",
    )
    @functools.wraps(command)
    def with_models(
        *,
        split: dict[str, float] | None,
        profiles: str | None,
        model_table: Path | None,
        **rest: Any,
    ) -> None:
        command(models=_models(split, profiles, model_table), **rest)

    return with_models


def _models(
    split: dict[str, float] | None, profiles: str | None, model_table: Path | None
) -> Models | None:
    if split is not None and model_table is not None:
        raise BadInputError("stands beside --split", allowed="one of them", key="--model-table")
    if profiles is not None and split is None:
        raise BadInputError("changes nothing", allowed="beside --split only", key="--profiles")
    if model_table is not None:
        return read_model_table(model_table)
    if split is None:
        return None
    sensitivities = _sensitivities(profiles or _DEFAULT_PROFILES)
    for kind in split:
        if kind not in sensitivities.kinds:
            raise BadInputError(
                f"no profile is of class {kind!r}",
                allowed=", ".join(sensitivities.kinds),
                key="--split",
            )
    return ClassSplit(split, sensitivities)


def _sensitivities(profiles: str) -> Sensitivities:
    return (
        builtin_sensitivities(profiles)
        if profiles in BUILTIN
        else read_sensitivities(Path(profiles))
    )
