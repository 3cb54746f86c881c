"""The errors a person can cause, each with what to do about it."""

from __future__ import annotations

from pathlib import Path


class RoundelayError(Exception):
    """Base of all errors that end the command with one line instead of a traceback."""

    exit_code = 1


def on_one_line(text: str) -> str:
    """``text`` with escapes: what a file holds must neither break a line nor steer a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


_MOST_SHOWN = 60  # characters


def shown(value: object) -> str:
    """``value`` as Python writes it, of a long one the beginning: for the problem of an error."""
    if isinstance(value, str):
        return repr(value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}...")
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


class BadInputError(RoundelayError):
    """An input is wrong: says where, what is wrong, and what is allowed.

    Parameters
    ----------
    problem: what is wrong, in one clause.
    allowed: what would be right.
    file, line, key: where; left out of the message where unknown.
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        allowed: str,
        file: Path | str | None = None,
        line: int | None = None,
        key: str | None = None,
    ) -> None:
        self.problem = problem
        self.allowed = allowed
        self.file = file
        self.line = line
        self.key = key
        super().__init__(problem)

    def __str__(self) -> str:
        where = []
        if self.file is not None:
            where.append(str(self.file) + (f":{self.line}" if self.line is not None else ""))
        if self.key:
            where.append(self.key)
        prefix = ": ".join(where)
        text = f"{self.problem}; allowed: {self.allowed}"
        return on_one_line(f"{prefix}: {text}" if prefix else text)


class MissingCapabilityError(RoundelayError):
    """This machine lacks something: says what, and how to get it."""

    exit_code = 3

    def __init__(self, lacking: str, *, remedy: str) -> None:
        self.lacking = lacking
        self.remedy = remedy
        super().__init__(f"{lacking}; {remedy}")


class EmulationError(RoundelayError):
    """The kernel or a worker did something else than it was told; the run cannot go on."""
