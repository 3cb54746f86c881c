"""Numbers and lists as people read them. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

NOTHING = "–"
MINUS = "−"
SPACE = "\N{NO-BREAK SPACE}"

_S_PER_MIN, _S_PER_H = 60.0, 3600.0


def seconds(value_s: float | None) -> str:
    """A time in the unit that suits it: ``230.5 ms``."""
    if value_s is None or not math.isfinite(value_s):
        return NOTHING
    factor, unit = time_unit(value_s)
    return f"{significant(value_s * factor, 4)}{SPACE}{unit}"


def time_unit(largest_s: float) -> tuple[float, str]:
    """(factor, unit) for an axis whose largest value is ``largest_s``."""
    if abs(largest_s) >= 1 or largest_s == 0:
        return 1.0, "s"
    return (1e3, "ms") if abs(largest_s) >= 1e-3 else (1e6, "µs")


def long_time_unit(largest_s: float) -> tuple[float, str]:
    """(factor, unit) for times up to ``largest_s`` that may be hours."""
    for size_s, unit in ((_S_PER_H, "h"), (_S_PER_MIN, "min")):
        if abs(largest_s) >= 2 * size_s:
            return 1 / size_s, unit
    return 1.0, "s"


def duration(value_s: float | None) -> str:
    """A time that may be hours: ``15.3 h``, ``5 min``."""
    if value_s is None or not math.isfinite(value_s):
        return NOTHING
    factor, unit = long_time_unit(value_s)
    return f"{number(value_s * factor)}{SPACE}{unit}"


def bit_rate(value_bps: float) -> str:
    """A rate in bit/s: ``50 Gbit/s``."""
    for size, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if value_bps >= size:
            return f"{number(value_bps / size)}{SPACE}{unit}"
    return f"{number(value_bps)}{SPACE}bit/s"


def significant(value: float, digits: int) -> str:
    """``value`` with so many digits, zeros at its end kept: ``15.0``."""
    if value == 0:
        return "0"
    places = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:.{places}f}".replace("-", MINUS)


def number(value: float) -> str:
    """At most three significant digits, no trailing zeros, no exponent below 1e15: ``0.0214``."""
    if value != 0 and not 1e-4 <= abs(value) < 1e15:
        return f"{value:.2e}"
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", SPACE)
    return f"{value:.3g}".replace("-", MINUS)


def percent(share: float) -> str:
    """A share: ``57.4 %``."""
    return f"{significant(share * 100, 3)}{SPACE}%"


def quantity(value: float, unit: str) -> str:
    """A value of a verdict: ``2.1 %`` for a share, ``3 028 bytes`` for a count."""
    if unit == "share":
        return f"{number(value * 100)}{SPACE}%"
    return f"{number(value)}{SPACE}{unit}"


def signed_percent(share: float | None) -> str:
    """A difference with its sign: ``+0.82 %``."""
    if share is None or not math.isfinite(share):
        return NOTHING
    text = f"{share * 100:+.2f}".replace("-", MINUS)
    return f"{text}{SPACE}%"


def within(share: float) -> str:
    """The bound that ``share`` keeps, rounded up to two digits: ``within 0.82 %``."""
    size = abs(share) * 100
    if size < 0.01:
        return f"within 0.01{SPACE}%"
    step = 10.0 ** (math.floor(math.log10(size)) - 1)
    return f"within {math.ceil(size / step - 1e-9) * step:.3g}{SPACE}%"


def clipped_words(arm: str, job: str, share: float) -> str:
    """What no circle has of a job. share: of its bits."""
    return (
        f"in arm {arm} job {job} asks for more than the rate of a link: {percent(share)} of its "
        "bits are on no circle"
    )


def port_name(port: str) -> str:
    """A port ``a->b`` as the link it feeds: ``a → b``."""
    return port.replace("->", " → ")


def listed(items: Sequence[str], at_most: int = 8) -> str:
    """``a, b and c``; what is beyond ``at_most`` is counted."""
    shown = list(items)
    if len(shown) > at_most:
        shown = [*shown[: at_most - 1], f"{len(items) - at_most + 1} more"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def numbers_listed(values: Sequence[int]) -> str:
    """``1 and 2``; ``1 to 20`` where none between them is missing."""
    if len(values) > 2 and list(values) == list(range(values[0], values[-1] + 1)):
        return f"{values[0]} to {values[-1]}"
    return listed([str(value) for value in values])


def counted(count: int, one: str, many: str) -> str:
    """``1 arm``, ``4 arms``, ``8 000 jobs``."""
    return f"{number(count)}{SPACE}{one if count == 1 else many}"


def span(values: Sequence[float], say: Callable[[float], str]) -> str:
    """The one value, or the range of several: ``5 min to 10 min``."""
    low, high = say(min(values)), say(max(values))
    return low if low == high else f"{low} to {high}"


def sentence(text: str) -> str:
    """``text`` with a capital first letter and a full stop, where it does not end already."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "?")) else ".")
