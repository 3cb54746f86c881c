"""What the fields of Slurm's ``sacct`` mean: by its manual page, 25.11; ReqMem also as before."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

NO_TIME = ("", "Unknown", "None", "N/A")

_ELAPSED = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+(?:\.\d+)?)", re.ASCII)
_SIZE = re.compile(r"(\d+(?:\.\d*)?)([KMGTPE]?)", re.ASCII)
_COUNT = re.compile(r"\d+", re.ASCII)
_GPU = "gres/gpu"
_BYTES = {prefix: 1024.0**power for power, prefix in enumerate("KMGTPE", 1)} | {"": 2.0**20}

Parsed = TypeVar("Parsed")


class Resources(NamedTuple):
    """What a field of trackable resources names; NaN and None for what it does not.

    gpu_type: several types are joined by ``+``.
    """

    gpus: float = 0.0
    gpu_type: str | None = None
    cpus: float = math.nan
    memory_bytes: float = math.nan


class Memory(NamedTuple):
    """An amount, and of what: ``n`` of each node, ``c`` of each CPU, or of the whole job."""

    bytes: float
    of: str


def each_parsed(
    texts: pd.Series, parse: Callable[[str], Parsed]
) -> tuple[NDArray[np.int64], list[Parsed]]:
    """``parse`` of each different one of ``texts``, and of each text, which of these is its."""
    places, different = pd.factorize(texts)
    return places.astype(np.int64), [parse(text) for text in different]


def elapsed_s(text: str) -> float:
    """``[[days-]hours:]minutes:seconds`` in s; NaN where it is none."""
    found = _ELAPSED.fullmatch(text)
    if found is None:
        return math.nan
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def resources(text: str) -> Resources | None:
    """Of AllocTRES or ReqTRES, such as ``cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1``.

    ``gres/gpu`` is the number of all GPUs, of whatever type; without it those of all types are
    added. A slice of a GPU counts as one. Memory without a unit is in MiB. None where it is none.
    """
    amounts = dict(each.partition("=")[::2] for each in text.split(",") if each)
    typed = {name: amount for name, amount in amounts.items() if name.startswith(f"{_GPU}:")}
    counts = [amounts[_GPU]] if _GPU in amounts else list(typed.values())
    memory_bytes = _size_bytes(amounts["mem"]) if "mem" in amounts else math.nan
    cpus = amounts.get("cpu")
    if not all(map(_COUNT.fullmatch, [*counts, *([] if cpus is None else [cpus])])):
        return None
    if memory_bytes is None:
        return None
    return Resources(
        gpus=sum(map(float, counts), 0.0),
        gpu_type="+".join(name.removeprefix(f"{_GPU}:") for name in typed) or None,
        cpus=math.nan if cpus is None else float(cpus),
        memory_bytes=memory_bytes,
    )


def memory(text: str) -> Memory | None:
    """Of ReqMem, such as ``16G``, and before Slurm 21.08 ``4Gc`` or ``4Gn``; None if it is none."""
    amount = text.rstrip("cn")
    size_bytes = _size_bytes(amount)
    of = text[len(amount) :]
    return None if size_bytes is None or len(of) > 1 else Memory(size_bytes, of)


def _size_bytes(text: str) -> float | None:
    found = _SIZE.fullmatch(text)
    return None if found is None else float(found[1]) * _BYTES[found[2]]


def first_known(*amounts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first of ``amounts`` that is above 0, row by row; NaN where none is. Shape (rows,)."""
    chosen = np.full(len(amounts[0]), np.nan)
    for each in reversed(amounts):
        chosen = np.where(each > 0, each, chosen)
    return chosen
