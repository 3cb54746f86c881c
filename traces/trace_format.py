"""What a format of traces is: how it is told from others, its reader, and its cleaning rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from traces.errors import BadInputError
from traces.job_trace import JobTrace

_HEAD_BYTES = 2**16  # far more than any header


@dataclass(frozen=True)
class CleaningRule:
    """Something that is done with jobs that are not as they should be.

    name: words with hyphens, such as ``drop-never-started``. meaning: a clause for a person.
    by_default: whether those who published the trace do so themselves.
    """

    name: str
    meaning: str
    by_default: bool = True


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read.

    rules: by name, whether a cleaning rule applies, where that is not its default.
    share: of the file, from its beginning; above 0, at most 1.
    mapping: the file that says what the columns of a plain CSV are.
    """

    rules: Mapping[str, bool] = field(default_factory=dict)
    share: float = 1.0
    mapping: Path | None = None


@dataclass(frozen=True)
class Head:
    """The first bytes of a file, far more than any header; or the names in a directory."""

    data: bytes
    entries: frozenset[str] = frozenset()

    @property
    def first_line(self) -> str:
        """The first line that is not blank, without a byte order mark and white space."""
        # A reader says what is wrong with bytes that are no text.
        lines = self.data.decode(errors="replace").removeprefix("\ufeff").split("\n")
        return next((line.strip() for line in lines if line.strip()), "")


def head_of(file: Path) -> Head:
    """The head of ``file``. Raises OSError, also for a directory."""
    with file.open("rb") as stream:
        return Head(stream.read(_HEAD_BYTES))


def source_words(file: Path, sha256: str, share: float = 1.0) -> str:
    """What a JobTrace says of a ``file`` as its source. sha256: of the ``share`` that was read."""
    part = "" if share == 1.0 else f" of its first {share:.3%}"
    return f"{file.name}, SHA-256{part} {sha256}"


@dataclass(frozen=True)
class TraceFormat:
    """One format. title: whose it is, a clause for a person. is_format: of the head of a file.

    read: raises BadInputError with file, line and column for what is damaged.
    takes_mapping: whether ReadOptions.mapping says what its columns are.
    """

    name: str
    title: str
    read: Callable[[Path, ReadOptions], JobTrace]
    is_format: Callable[[Head], bool]
    rules: tuple[CleaningRule, ...] = ()
    takes_mapping: bool = False


def unusual_rules(rules: Sequence[CleaningRule], options: ReadOptions) -> dict[str, bool]:
    """By name, whether a rule applies, of those for which that is not the default.

    Raises BadInputError where the options name a rule that there is not.
    """
    defaults = {rule.name: rule.by_default for rule in rules}
    for name in options.rules:
        if name not in defaults:
            raise BadInputError(
                f"{name!r} is no cleaning rule of this format",
                allowed=", ".join(defaults) or "none: the format has no rules",
            )
    return {name: on for name, on in options.rules.items() if on != defaults[name]}


class Cleaning:
    """Applies the rules of a format, and counts. left_out, changed: jobs, by the rule's name.

    A format leaves out before it changes, so that what was changed is in the trace.
    """

    def __init__(self, rules: Sequence[CleaningRule], options: ReadOptions) -> None:
        """Raises BadInputError where the options name a rule that there is not."""
        defaults = {rule.name: rule.by_default for rule in rules}
        self._applied = defaults | unusual_rules(rules, options)
        self.left_out: Counter[str] = Counter()
        self.changed: Counter[str] = Counter()

    def applies(self, rule: CleaningRule) -> bool:
        """Whether ``rule`` is wanted."""
        return self._applied[rule.name]

    def leave_out(
        self, jobs: pd.DataFrame, wrong: NDArray[np.bool_], rule: CleaningRule
    ) -> pd.DataFrame:
        """``jobs`` without those that are ``wrong``, where ``rule`` applies; else all of them.

        wrong: shape (jobs,).
        """
        if not self.applies(rule) or not wrong.any():
            return jobs
        self.left_out[rule.name] += int(np.count_nonzero(wrong))
        return jobs[~wrong]

    def change(
        self,
        jobs: pd.DataFrame,
        wrong: NDArray[np.bool_],
        column: str,
        value: float | NDArray[np.float64],
        rule: CleaningRule,
    ) -> pd.DataFrame:
        """``jobs``, those that are ``wrong`` with ``value`` in ``column`` where ``rule`` applies.

        wrong: shape (jobs,). value: one, or one for each of those that are wrong.
        """
        if not self.applies(rule) or not wrong.any():
            return jobs
        self.count_changed(int(np.count_nonzero(wrong)), rule)
        changed = jobs.copy()
        changed.loc[wrong, column] = value
        return changed

    def count_changed(self, jobs: int, rule: CleaningRule) -> None:
        """Count so many ``jobs`` that ``rule`` altered in another way than :meth:`change`."""
        if jobs:
            self.changed[rule.name] += jobs
