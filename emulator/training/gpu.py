"""The GPU of a worker: steps that take their time one after the other, as far as data are there.

Compute is an absolute-deadline sleep: a GPU does not use the CPU.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol

from emulator.wake import sleep_until


class Feed(Protocol):
    """Where steps come from: a Loader."""

    def take(self, deadline_s: float) -> float | None:
        """When the step that is taken became ready, or None where none was by ``deadline_s``."""
        ...


class Meeting(Protocol):
    """Where all workers of a job end a step together: a Barrier."""

    def wait(self, deadline_s: float) -> bool:
        """Whether all have come by ``deadline_s``."""
        ...


@dataclass
class Gpu:
    """Runs steps of ``step_s`` until ``steps_left`` are done, in the stretches that it is given.

    begun: the part of the step under way that is done already, None between two steps. stall_s: for
    how long it has waited for the data of that step, or of the next. spans: (began, ended, stall)
    of each step that ended; what a pause cut off is not in it, so that a step across a pause seems
    as long as if there had been none. lateness_s: how late it woke at the end of each step; at a
    pause, when all workers of the box wake at once, being late costs nothing.
    """

    step_s: float
    steps_left: float
    feed: Feed
    meeting: Meeting | None = None
    begun: float | None = None
    steps: float = 0.0
    finished_s: float | None = None
    stall_s: float = 0.0
    spans: list[tuple[float, float, float]] = field(default_factory=list)
    lateness_s: list[float] = field(default_factory=list)

    def run(self, resume_s: float, pause_s: float) -> bool:
        """Run from ``resume_s`` to ``pause_s`` (monotonic); whether the job ended before."""
        free_s = resume_s
        began_s = resume_s - (self.begun or 0.0) * self.step_s
        while True:
            if self.begun is None:
                ready_s = self.feed.take(pause_s)
                if ready_s is None:
                    self.stall_s += pause_s - free_s
                    return False
                began_s = max(ready_s, free_s)
                self.stall_s += began_s - free_s
                self.begun = 0.0
            end_s = began_s + self.step_s * self._whole
            sleep_until(min(end_s, pause_s))
            if end_s > pause_s:
                self._advance((pause_s - began_s) / self.step_s)
                return False
            self.lateness_s.append(time.monotonic() - end_s)
            self._advance(self._whole)
            if self.meeting is not None and not self.meeting.wait(pause_s):
                return False
            free_s = end_s if self.meeting is None else max(end_s, time.monotonic())
            self.spans.append((began_s, free_s, self.stall_s))
            self.begun, self.stall_s = None, 0.0
            if self.steps_left <= 1e-9:
                self.finished_s = free_s
                return True

    @property
    def _whole(self) -> float:
        """How far the step under way goes: the last one may be a part of one."""
        return min(1.0, (self.begun or 0.0) + self.steps_left)

    def _advance(self, to: float) -> None:
        done = to - (self.begun or 0.0)
        self.begun = to
        self.steps += done
        self.steps_left -= done
