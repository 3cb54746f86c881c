"""Changes links while jobs run: a thread that sleeps, runs tc, and reads back what tc did."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

from emulator.coordinator import now_s
from emulator.networks import PlannedNetwork
from netshaper.apply import run_commands
from netshaper.ecn.loader import change_marker
from netshaper.ecn.marking import Marking
from netshaper.link_changes import PlannedChange
from netshaper.readback import check_ports


@dataclass(frozen=True)
class AppliedChange:
    """A change, and when its first command began and its last had ended, on the workers' clock."""

    network: str
    change: PlannedChange
    begun_s: float
    done_s: float


class LinkChanger:
    """Context in which the changes of ``networks`` are made, each at its time after ``anchor_s``.

    Workers are other processes, and the controller only waits for them: a thread of its own that
    starts tc disturbs neither. Leaving the context stops it, and raises its error, where there is
    none already: EmulationError where tc failed, or the kernel then holds something else.
    """

    def __init__(self, networks: Sequence[PlannedNetwork], anchor_s: float) -> None:
        due = [
            (anchor_s + change.event.at_s, network, change)
            for network in networks
            for change in network.changes
        ]
        self._due = sorted(due, key=lambda entry: entry[0])
        self._applied: list[AppliedChange] = []
        self._error: Exception | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def failed(self) -> bool:
        """Whether it has given up; the run is of no use then."""
        return self._error is not None

    def applied(self, network: str) -> tuple[AppliedChange, ...]:
        """What was done on ``network``, in order; those after the end of a run never are."""
        return tuple(each for each in self._applied if each.network == network)

    def __enter__(self) -> LinkChanger:
        if self._due:
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._due:
            self._thread.join()
        if self._error is not None and error is None:
            raise self._error

    def _run(self) -> None:
        try:
            for due_s, network, change in self._due:
                if self._stop.wait(max(0.0, due_s - now_s())):
                    return
                marking = network.plan.marking
                begun_s = now_s()
                run_commands(change.commands)
                if marking is Marking.MARKER:
                    _change_markers(change)
                self._applied.append(AppliedChange(network.name, change, begun_s, now_s()))
                check_ports(change.ends, marking)
        except Exception as error:
            self._error = error


def _change_markers(change: PlannedChange) -> None:
    for before, after in zip(change.before, change.ends, strict=True):
        if before.marker is not None and after.marker is not None and before.marker != after.marker:
            change_marker(after.namespace, after.device, before.marker, after.marker)
