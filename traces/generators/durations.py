"""How long jobs run: named distributions, each with its mean, which a load is computed from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from traces.job_trace import MAX_TIME_S
from traces.quantities import format_duration, parse_duration_s

Floats = NDArray[np.float64]


class Durations(Protocol):
    """A distribution of durations, in seconds. str() says which, with its parameters."""

    @property
    def mean_s(self) -> float:
        """The mean of the distribution, not of a sample."""

    def draw(self, count: int, part: np.random.Generator, place: np.random.Generator) -> Floats:
        """(count,) durations. part: which part of a mixture each is of; place: where in it.

        A longer draw begins with the shorter one.
        """


@dataclass(frozen=True)
class Constant:
    """All jobs run for ``mean_s``."""

    mean_s: float

    def __str__(self) -> str:
        return f"of {format_duration(self.mean_s)}"

    def draw(self, count: int, part: np.random.Generator, place: np.random.Generator) -> Floats:
        del part, place
        return np.full(count, self.mean_s)


@dataclass(frozen=True)
class Exponential:
    """Density exp(-t / mean) / mean."""

    mean_s: float

    def __str__(self) -> str:
        return f"exponential with a mean of {format_duration(self.mean_s)}"

    def draw(self, count: int, part: np.random.Generator, place: np.random.Generator) -> Floats:
        del part
        return place.exponential(self.mean_s, count)


@dataclass(frozen=True)
class LogNormal:
    """median x exp(sigma Z), with Z standard normal; the mean is median x exp(sigma^2 / 2)."""

    median_s: float
    sigma: float

    def __str__(self) -> str:
        median = format_duration(self.median_s)
        return f"log-normal with a median of {median} and sigma {self.sigma:g}"

    @property
    def mean_s(self) -> float:
        return self.median_s * math.exp(self.sigma**2 / 2)

    def draw(self, count: int, part: np.random.Generator, place: np.random.Generator) -> Floats:
        del part
        return self.median_s * np.exp(self.sigma * place.standard_normal(count))


@dataclass(frozen=True)
class Uniform:
    """As likely at any time between the two."""

    least_s: float
    most_s: float

    def __str__(self) -> str:
        return f"uniform from {format_duration(self.least_s)} to {format_duration(self.most_s)}"

    @property
    def mean_s(self) -> float:
        return (self.least_s + self.most_s) / 2

    def draw(self, count: int, part: np.random.Generator, place: np.random.Generator) -> Floats:
        del part
        return self.least_s + (self.most_s - self.least_s) * place.random(count)


@dataclass(frozen=True)
class LogUniform:
    """The logarithm is uniform; the mean is (most - least) / ln(most / least)."""

    least_s: float
    most_s: float

    def __str__(self) -> str:
        return f"log-uniform from {format_duration(self.least_s)} to {format_duration(self.most_s)}"

    @property
    def mean_s(self) -> float:
        return (self.most_s - self.least_s) / math.log(self.most_s / self.least_s)

    def draw(self, count: int, part: np.random.Generator, place: np.random.Generator) -> Floats:
        del part
        return self.least_s * (self.most_s / self.least_s) ** place.random(count)


@dataclass(frozen=True)
class PhillyDerived:
    """Gavel's mixture (its generator of jobs; Synergy's figures rest on it too).

    In minutes, 10^U(1.5, 3) for four jobs of five and 10^U(3, 4) for the fifth. The mean of
    10^U(a, b) is (10^b - 10^a) / ((b - a) ln 10); that of the mixture is 16.8 h.
    """

    short_share = 0.8
    short = (1.5, 3.0)  # exponents of ten, of minutes
    long = (3.0, 4.0)

    def __str__(self) -> str:
        return "Philly-derived"

    @property
    def mean_s(self) -> float:
        def mean_minutes(low: float, high: float) -> float:
            return float((10**high - 10**low) / ((high - low) * np.log(10)))

        short, long = mean_minutes(*self.short), mean_minutes(*self.long)
        return 60 * (self.short_share * short + (1 - self.short_share) * long)

    def draw(self, count: int, part: np.random.Generator, place: np.random.Generator) -> Floats:
        is_short = part.random(count) < self.short_share
        low = np.where(is_short, self.short[0], self.long[0])
        high = np.where(is_short, self.short[1], self.long[1])
        return np.asarray(60 * 10 ** (low + (high - low) * place.random(count)))


_Parameters = Mapping[str, str]


def _time_s(parameters: _Parameters, key: str) -> float:
    value_s = parse_duration_s(parameters[key])
    if not 0 < value_s <= MAX_TIME_S:
        raise ValueError(
            f"{key} is {parameters[key]!r}|a time above 0 s, at most {MAX_TIME_S:g} s, such as '2h'"
        )
    return value_s


def _range_s(parameters: _Parameters) -> tuple[float, float]:
    least_s, most_s = _time_s(parameters, "least"), _time_s(parameters, "most")
    if least_s >= most_s:
        raise ValueError(f"most is {parameters['most']!r}|more than least")
    return least_s, most_s


_MOST_SIGMA = 5.0  # above it the mean rests on jobs that no trace has


def _sigma(parameters: _Parameters) -> float:
    text = parameters["sigma"]
    try:
        sigma = float(text)
    except ValueError:
        sigma = math.nan
    if not 0 < sigma <= _MOST_SIGMA:
        raise ValueError(f"sigma is {text!r}|a number above 0, at most {_MOST_SIGMA:g}")
    return sigma


_NAMED: dict[str, tuple[tuple[str, ...], Callable[[_Parameters], Durations]]] = {
    "philly-derived": ((), lambda _: PhillyDerived()),
    "constant": (("value",), lambda given: Constant(_time_s(given, "value"))),
    "exponential": (("mean",), lambda given: Exponential(_time_s(given, "mean"))),
    "log-normal": (
        ("median", "sigma"),
        lambda given: LogNormal(_time_s(given, "median"), _sigma(given)),
    ),
    "uniform": (("least", "most"), lambda given: Uniform(*_range_s(given))),
    "log-uniform": (("least", "most"), lambda given: LogUniform(*_range_s(given))),
}
"""By name: the parameters, and what makes the distribution of their texts."""


def _form(name: str) -> str:
    parameters = ",".join(f"{key}=..." for key in _NAMED[name][0])
    return f"{name}:{parameters}" if parameters else name


DURATIONS_ALLOWED = ", ".join(_form(name) for name in _NAMED)


def parse_durations(text: str) -> Durations:
    """'log-normal:median=2h,sigma=1.2' -> LogNormal(7200.0, 1.2).

    Raises ValueError (message and what is allowed, split by '|').
    """
    name, _, rest = text.partition(":")
    if name not in _NAMED:
        raise ValueError(f"{text!r} is no distribution of durations|{DURATIONS_ALLOWED}")
    keys, make = _NAMED[name]
    pairs = [pair.partition("=") for pair in rest.split(",")] if rest else []
    if sorted(key for key, _, _ in pairs) != sorted(keys):
        raise ValueError(f"{text!r} has other parameters|{_form(name)}")
    return make({key: value for key, _, value in pairs})
