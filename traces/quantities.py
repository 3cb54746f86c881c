"""Quantities with units, at the edge: text in, SI floats out.

Inside the code every number is SI and carries its unit in its name (``_s``, ``_bytes``, ``_bps``).
"""

from __future__ import annotations

import functools
import math
import re
from typing import Annotated

from pydantic import BeforeValidator

_NUMBER_AND_UNIT = re.compile(
    r"^\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*([A-Za-zµ][A-Za-zµ/]*)\s*$"
)

_EXAMPLES = {
    "bit/s": "a rate above zero with its unit, such as '50 Gbit/s' or '1.25 GB/s'",
    "byte": "a size above zero with its unit, such as '500 GB'",
    "byte/s": "a rate above zero with its unit, such as '500 MB/s'",
    "s": "a time of zero or more with its unit, such as '300 s' or '141 ms'",
}


@functools.cache
def _registry():  # type: ignore[no-untyped-def]  # pint's registry is generic over its number type
    import pint  # imported here: it takes a third of a second, and most imports need no units

    return pint.UnitRegistry()


def _parse(text: object, unit: str) -> float:
    """Return ``text`` in ``unit``; ValueError says what is allowed."""
    allowed = _EXAMPLES[unit]
    if isinstance(text, bool) or not isinstance(text, str):
        raise ValueError(f"{text!r} has no unit|{allowed}")  # noqa: TRY004 - pydantic reports ValueError
    match = _NUMBER_AND_UNIT.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit|{allowed}")
    import pint

    registry = _registry()
    try:
        value = float(registry.Quantity(float(match[1]), match[2]).to(unit).magnitude)
    except (pint.UndefinedUnitError, pint.DimensionalityError):
        raise ValueError(
            f"{text!r}: {match[2]!r} is not a unit of this quantity|{allowed}"
        ) from None
    if not math.isfinite(value) or value < 0 or (unit != "s" and value == 0):
        raise ValueError(f"{text!r} is out of range|{allowed}")
    return value


def parse_rate_bps(text: object) -> float:
    """'50 Gbit/s' -> 5e10. Raises ValueError (message and what is allowed, split by '|')."""
    return _parse(text, "bit/s")


def parse_duration_s(text: object) -> float:
    """'141 ms' -> 0.141. Raises ValueError as :func:`parse_rate_bps`."""
    return _parse(text, "s")


def parse_size_bytes(text: object) -> float:
    """'500 GB' -> 5e11. Raises ValueError as :func:`parse_rate_bps`."""
    return _parse(text, "byte")


def parse_bytes_per_s(text: object) -> float:
    """'500 MB/s' -> 5e8. Raises ValueError as :func:`parse_rate_bps`."""
    return _parse(text, "byte/s")


SizeBytes = Annotated[float, BeforeValidator(parse_size_bytes, json_schema_input_type=str)]
BytesPerS = Annotated[float, BeforeValidator(parse_bytes_per_s, json_schema_input_type=str)]
RateBps = Annotated[float, BeforeValidator(parse_rate_bps, json_schema_input_type=str)]
DurationS = Annotated[float, BeforeValidator(parse_duration_s, json_schema_input_type=str)]


def _scaled(value: float, unit: str, prefixes: tuple[tuple[float, str], ...]) -> str:
    for factor, prefix in prefixes:
        if abs(value) >= factor:
            return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"


def format_rate(rate_bps: float) -> str:
    """5e10 -> '50 Gbit/s'."""
    return _scaled(rate_bps, "bit/s", ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")))


def format_size(size_bytes: float) -> str:
    """5.7466896e8 -> '574.7 MB'."""
    return _scaled(size_bytes, "B", ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")))


def format_duration(duration_s: float) -> str:
    """0.2301 -> '230.1 ms'."""
    if abs(duration_s) >= 1 or duration_s == 0:
        return f"{duration_s:.4g} s"
    return f"{duration_s * 1e3:.4g} ms" if abs(duration_s) >= 1e-3 else f"{duration_s * 1e6:.4g} µs"
