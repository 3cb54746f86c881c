"""Options of `roundelay profile` that say what is trained, and what they make."""

from __future__ import annotations

import datetime
import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from harness.cli.options import Decorator, quantity
from profiler.loading.batches import Loader
from profiler.measuring.training import (
    MADE_DIRECTORY,
    Patience,
    Script,
    Training,
    made_items_for,
)
from profiler.models.builtin import builtin_model
from profiler.models.training_options import Precision
from profiler.training.job_specification import JobSpecification
from traces.errors import BadInputError
from traces.quantities import parse_duration_s

_ONLY_BUILTIN = (
    "tiny",
    "data",
    "device",
    "loader",
    "precision",
    "channels_last",
    "compile_",
    "batch_size",
    "on_broken",
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_RANGE = re.compile(r"(\d+(?:\.\d+)?)(?:\.\.(\d+(?:\.\d+)?)(?:/(\d+(?:\.\d+)?))?)?")
_MOST_POINTS = 512  # of an axis
_LEAST_CPUS = 0.1
_LONGEST_S = 86_400.0
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Chosen:
    """What the options say. model: what the result is called."""

    model: str
    training: Callable[[Path], Training]
    """In the directory of the results, where made items go."""
    patience: Patience


_OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--model",
        metavar="NAME",
        help="A built-in model; with a COMMAND, what the result is called. Default then: the "
        "script's name.",
    ),
    click.option("--tiny", is_flag=True, help="A tiny size of the model, as for a CPU."),
    click.option(
        "--data",
        type=click.Path(path_type=Path),
        help="Directory of images to train on. Default: items that are made.",
    ),
    click.option(
        "--device",
        type=click.Choice(["cuda", "cpu"]),
        help="Where the model is trained. Default: cuda where there is an NVIDIA GPU.",
    ),
    click.option(
        "--loader",
        type=click.Choice(get_args(Loader)),
        help="What loads samples: a DataLoader of torch, or NVIDIA DALI. Default: torch.",
    ),
    click.option(
        "--precision",
        type=click.Choice(get_args(Precision)),
        help="Of what automatic mixed precision casts. Default: fp32, without it.",
    ),
    click.option("--channels-last", is_flag=True, help="Images with their channels innermost."),
    click.option("--compile", "compile_", is_flag=True, help="Train through torch.compile."),
    click.option(
        "--batch-size",
        type=click.IntRange(min=1),
        help="Samples per iteration. Default: the model's.",
    ),
    click.option(
        "--on-broken",
        type=click.Choice(["skip", "refuse"]),
        help="What becomes of files in --data that are no images. Default: skip, and count.",
    ),
    click.option(
        "--budget",
        metavar="'30 s'",
        default="30 s",
        show_default=True,
        help="At most so long for one point; it ends earlier once it is known to 2 %.",
    ),
    click.option(
        "--timeout",
        metavar="'5 min'",
        default="5 min",
        show_default=True,
        help="Give up a training that shows no iteration for so long.",
    ),
    click.argument("command", nargs=-1, type=click.UNPROCESSED),
)


def training_options(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The options above; ``verb`` gets what they say as ``chosen``."""

    @functools.wraps(verb)
    def with_chosen(
        *,
        model: str | None,
        command: tuple[str, ...],
        budget: str,
        timeout: str,
        **others: Any,
    ) -> Any:
        builtin = {name: others.pop(name) for name in _ONLY_BUILTIN}
        patience = Patience(_length_s(budget, "--budget"), _length_s(timeout, "--timeout"))
        return verb(chosen=_chosen(model, command, builtin, patience), **others)

    decorated: Callable[..., Any] = with_chosen
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated


def _chosen(
    model: str | None, command: tuple[str, ...], builtin: dict[str, Any], patience: Patience
) -> Chosen:
    if command:
        for name, value in builtin.items():
            if value:
                key = f"--{name.rstrip('_').replace('_', '-')}"
                raise BadInputError(
                    "is for built-in models, and a command is given",
                    allowed="what the command itself takes, after --",
                    key=key,
                )
        named = [word for word in command if word.endswith(".py")] or list(command)
        script = Script(command)
        return Chosen(_name(model or Path(named[0]).stem), lambda _: script, patience)
    if model is None:
        raise BadInputError(
            "there is nothing to train",
            allowed="--model NAME, or a command after -- such as -- python train.py",
            key="--model",
        )
    # Refused here, before anything is made, where there is no such model.
    try:
        known = builtin_model(model, builtin["tiny"])
    except BadInputError as error:
        raise BadInputError(error.problem, allowed=error.allowed, key="--model") from None
    batch_size = builtin["batch_size"] or known.batch_size

    def training(directory: Path) -> Training:
        return JobSpecification(
            model=known.name,
            tiny=builtin["tiny"],
            device=builtin["device"] or _device(),
            made_directory=str((directory / MADE_DIRECTORY).resolve()),
            data=None if builtin["data"] is None else str(builtin["data"].resolve()),
            made_items=made_items_for(batch_size),
            on_broken=builtin["on_broken"] or "skip",
            loader=builtin["loader"] or "torch",
            batch_size=builtin["batch_size"],
            precision=builtin["precision"] or "fp32",
            channels_last=builtin["channels_last"],
            compile=builtin["compile_"],
        )

    return Chosen(f"{known.name}-tiny" if builtin["tiny"] else known.name, training, patience)


def _name(text: str) -> str:
    """BadInputError where ``text`` cannot be part of a path."""
    if not _NAME.fullmatch(text):
        allowed = "up to 64 letters, digits, dots, dashes and underscores"
        raise BadInputError(f"{text!r} is no name", allowed=allowed, key="--model")
    return text


def _device() -> str:
    return "cuda" if Path("/dev/nvidiactl").exists() else "cpu"


def _length_s(text: str, key: str) -> float:
    length_s = quantity(parse_duration_s, text, key)
    if not 0 < length_s <= _LONGEST_S:
        raise BadInputError(f"{text!r} is out of range", allowed="above 0 s, up to a day", key=key)
    return length_s


def parse_cpus(text: str | None, usable_cpus: float) -> tuple[float, ...]:
    """'1..4' or '1..2/0.25' -> the numbers of CPUs, the last one always among them.

    None: from 1 to all that are usable, whole ones. BadInputError where these are no CPUs that this
    machine can give.
    """
    if text is None:
        text = f"1..{int(usable_cpus)}" if usable_cpus >= 1 else f"{usable_cpus:g}"
    allowed = f"LOW..HIGH or LOW..HIGH/STEP from {_LEAST_CPUS:g} to the {usable_cpus:g} CPUs here"
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise BadInputError(f"{text!r} is no range", allowed=allowed, key="--cpus")
    low = float(found[1])
    high, step = float(found[2] or low), float(found[3] or 1)
    if not (_LEAST_CPUS <= low <= high <= usable_cpus and step > 0):
        raise BadInputError(f"{text!r} is out of range", allowed=allowed, key="--cpus")
    steps = math.floor((high - low) / step + _ROUNDING)
    if steps >= _MOST_POINTS:
        raise BadInputError(f"{text!r} has {steps + 1} points", allowed="up to 512", key="--cpus")
    cpus = [round(low + step * number, 6) for number in range(steps + 1)]
    return tuple(cpus if high - cpus[-1] < _ROUNDING * high else [*cpus, high])


def parse_shares(text: str | None) -> tuple[float, ...] | None:
    """'0%,50%,100%' -> shares. BadInputError where they do not rise from 0 % to 100 %."""
    if text is None:
        return None
    allowed = "rising percentages of the dataset such as 0%,25%,50%,75%,100%"
    shares: list[float] = []
    for word in text.split(","):
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", word)
        if found is None or not (shares[-1] if shares else -1) < float(found[1]) / 100 <= 1:
            raise BadInputError(f"{text!r} is no list of shares", allowed=allowed, key="--memory")
        shares.append(float(found[1]) / 100)
    if shares[-1] == 0:
        raise BadInputError("no point has a cache", allowed=allowed, key="--memory")
    return tuple(shares)


def profile_directory(model: str) -> Path:
    """profiles/MODEL-TIME below the current directory."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return Path("profiles") / f"{model}-{stamp}"
