"""What the profiler process and the training process say to each other: JSON, one line each.

Over a Unix stream socket whose descriptor the training process finds in its environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal

from emulator.messages import Message
from traces.errors import BadInputError, shown

DESCRIPTOR_VARIABLE = "ROUNDELAY_PROFILER_FD"

Source = Literal["stored", "synthetic"]


@dataclass(frozen=True)
class Allocate:
    """Go on with this allocation.

    source: "synthetic" is one batch on the device, over and over: nothing is loaded. fill: the
    cache is filled before the first iteration, so that it hits as in any later epoch.
    """

    name: ClassVar[str] = "allocate"
    cpus: float
    cache_bytes: int
    source: Source = "stored"
    fill: bool = True


@dataclass(frozen=True)
class End:
    """No more is wanted."""

    name: ClassVar[str] = "end"


Command = Allocate | End


@dataclass(frozen=True)
class Ready:
    """The training process can take allocations, and waits for the first.

    kind: of a built-in model; "script" of a person's own. batch_size: samples. device: "cpu" or as
    "cuda:0". dataset_items, dataset_bytes, epoch_iterations: None where unknown. skipped: of the
    dataset, by reason.
    options: how it trains. not_followed: what of an allocation does not reach it, "workers"
    or "memory", and why. versions: of what it runs on.
    """

    name: ClassVar[str] = "ready"
    model: str
    kind: str
    batch_size: int | None
    device: str
    device_name: str
    loader: str
    dataset_items: int | None
    dataset_bytes: int | None
    epoch_iterations: int | None = None
    skipped: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    not_followed: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Allocated:
    """An allocation is in force: what is reported from here on belongs to it.

    workers: of the loader; None where unknown. threads: of the training process itself.
    """

    name: ClassVar[str] = "allocated"
    workers: int | None
    threads: int
    cached_items: int
    cached_bytes: int
    cpus: float


@dataclass(frozen=True)
class Refused:
    """An allocation cannot be taken, and why. The process waits for the next one."""

    name: ClassVar[str] = "refused"
    message: str


@dataclass(frozen=True)
class Iterations:
    """records: for each iteration, oldest first, the seconds that it waited, copied, computed, and
    all three together. hits, misses, fetched_bytes: since ``Allocated``."""

    name: ClassVar[str] = "iterations"
    records: Sequence[Sequence[float]]
    samples_per_iteration: int | None
    epoch: int
    hits: int
    misses: int
    fetched_bytes: int


@dataclass(frozen=True)
class OutOfMemory:
    """The memory of the GPU was not enough. A built-in job waits for the next allocation; a script
    ends."""

    name: ClassVar[str] = "out-of-memory"
    message: str


@dataclass(frozen=True)
class NotFinite:
    """The loss was not a number, or infinite. Said once an allocation; training goes on.

    iteration: how many the loop had done before it, since the process began.
    """

    name: ClassVar[str] = "not-finite"
    iteration: int


@dataclass(frozen=True)
class Ended:
    """Training ended by itself, after so many iterations since the process began.

    code: the exit code that follows. reason: empty where it simply came to its end.
    """

    name: ClassVar[str] = "ended"
    iterations: int
    code: int = 0
    reason: str = ""


Event = Ready | Allocated | Refused | Iterations | OutOfMemory | NotFinite | Ended

_EVENTS: dict[str, type[Event]] = {
    kind.name: kind
    for kind in (Ready, Allocated, Refused, Iterations, OutOfMemory, NotFinite, Ended)
}
_COMMANDS: dict[str, type[Command]] = {kind.name: kind for kind in (Allocate, End)}


def command_message(command: Command) -> Message:
    return {"do": command.name, **vars(command)}


def event_message(event: Event) -> Message:
    return {"event": event.name, **vars(event)}


def parse_command(message: Message) -> Command:
    """BadInputError where it is none."""
    parsed: Command = _parsed(message, "do", _COMMANDS)
    return parsed


def parse_event(message: Message) -> Event:
    """BadInputError where it is none."""
    parsed: Event = _parsed(message, "event", _EVENTS)
    return parsed


def _parsed(message: Message, key: str, kinds: Mapping[str, type[Any]]) -> Any:
    name = message.get(key)
    kind = kinds.get(str(name))
    if kind is None:
        raise BadInputError(
            f"{key} is {shown(name)}", allowed=", ".join(sorted(kinds)), file="the other process"
        )
    known = {each.name for each in fields(kind)}
    given = {word: value for word, value in message.items() if word != key}
    try:
        return kind(**given)
    except TypeError:
        raise BadInputError(
            f"{name} has {', '.join(sorted(given)) or 'nothing'}",
            allowed=", ".join(sorted(known)),
            file="the other process",
        ) from None
