"""The few events of a PyTorch profiler (Kineto) trace that say when it computed and when it sent.

Format: torch/csrc/profiler/util.h (saveNcclMeta) for the arguments of ``record_param_comms``,
libkineto/src/output_json.cpp for the rest. Times in the file are microseconds, here seconds.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from traces.errors import BadInputError
from traces.formats.json_stream import Member, stream_members

# An event that is kept takes up to 40 bytes (GPU work) or 500 bytes (a collective).
MAX_KEPT_EVENTS = 5_000_000
MAX_COLLECTIVES = 500_000
MAX_NAME_CHARS = 200

MAX_TIME_US = 1e18  # 30,000 years; beyond it, sums of times would lose whole iterations

UNKNOWN_ID = -1

_STEP_NAME = re.compile(r"ProfilerStep#\d+")
_RANKS = re.compile(r"\[\d+(?:, ?\d+)*\]")
_GPU_COPIES = frozenset({"gpu_memcpy", "gpu_memset"})
_RUNTIME = frozenset({"cuda_runtime", "cuda_driver"})
_EXPECTED = "a trace as torch.profiler exports it"


@dataclass(frozen=True)
class Step:
    """One ``ProfilerStep#N`` span of the training loop, by the host's clock."""

    name: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class CollectiveMetadata:
    """What the process group noted; ``elements`` of the larger of input and output.

    group_size: None where it is not said. group: what ranks call the process group, empty where
    they do not. sequence: the number of the collective in its group, as recent versions count.
    """

    name: str
    dtype: str
    elements: int
    group_size: int | None
    group: str
    sequence: int | None


@dataclass(frozen=True)
class HostRecord:
    """A ``record_param_comms`` event: the host issues a collective at ``issued_s``."""

    external_id: int
    issued_s: float
    metadata: CollectiveMetadata | None


@dataclass(frozen=True)
class NcclKernel:
    """A collective at work on the GPU. ``correlation`` names the call that launched it."""

    external_id: int
    correlation: int
    stream: int
    start_s: float
    end_s: float
    metadata: CollectiveMetadata | None


@dataclass
class KinetoEvents:
    """All that is kept of a trace.

    work_*: kernels, copies within the GPU and fills, without NCCL's; equal lengths, in file order.
    calls: launching calls, as correlation -> time; waits: calls that block the host for the GPU.
    """

    steps: list[Step] = field(default_factory=list)
    records: list[HostRecord] = field(default_factory=list)
    nccl_kernels: list[NcclKernel] = field(default_factory=list)
    work_start_s: array[float] = field(default_factory=lambda: array("d"))
    work_end_s: array[float] = field(default_factory=lambda: array("d"))
    work_correlation: array[int] = field(default_factory=lambda: array("q"))
    work_stream: array[int] = field(default_factory=lambda: array("q"))
    call_correlation: array[int] = field(default_factory=lambda: array("q"))
    call_s: array[float] = field(default_factory=lambda: array("d"))
    wait_start_s: array[float] = field(default_factory=lambda: array("d"))
    wait_end_s: array[float] = field(default_factory=lambda: array("d"))
    rank: int | None = None
    world_size: int | None = None
    nccl_version: str | None = None
    gpu_type: str | None = None


def read_kineto_events(file: Path) -> KinetoEvents:
    """Read ``file`` once, in bounded memory. Raises BadInputError with the file, line and key."""
    reader = _Reader(file)
    has_events = False
    for member in stream_members(file, ("traceEvents", "distributedInfo", "deviceProperties")):
        if member.section == "traceEvents":
            has_events = True
            reader.take_event(member)
        else:
            reader.take_header(member)
    if not has_events:
        raise BadInputError("has no events", allowed=_EXPECTED, file=file, key="traceEvents")
    return reader.events


class _Reader:
    def __init__(self, file: Path) -> None:
        self.events = KinetoEvents()
        self._file = file
        self._kept = 0
        self._streams: dict[tuple[object, object], int] = {}

    def take_header(self, member: Member) -> None:
        events, value = self.events, member.value
        if member.section == "deviceProperties":
            if events.gpu_type is None and isinstance(value, dict) and value.get("name"):
                events.gpu_type = str(value["name"])[:MAX_NAME_CHARS]
        elif member.key == "rank":
            events.rank = _whole(value)
        elif member.key == "world_size":
            events.world_size = _whole(value)
        elif member.key == "nccl_version":
            events.nccl_version = str(value)[:MAX_NAME_CHARS]

    def take_event(self, member: Member) -> None:
        event = member.value
        if not isinstance(event, dict):
            raise self._refuse("an event is not an object", _EXPECTED, member)
        category, name = event.get("cat"), event.get("name")
        if event.get("ph") != "X" or not isinstance(name, str):
            return
        arguments = event.get("args")
        if not isinstance(arguments, dict):
            arguments = {}
        if category == "kernel" and "nccl" in name.lower():
            self._take_nccl_kernel(member, event, arguments)
        elif category == "kernel" or (category in _GPU_COPIES and not _crosses_to_host(name)):
            self._take_work(member, event, arguments)
        elif category in _RUNTIME:
            self._take_call(member, event, arguments, name)
        elif name == "record_param_comms":
            self._take_record(member, event, arguments)
        elif category != "gpu_user_annotation" and _STEP_NAME.fullmatch(name):
            start_s, end_s = self._span(member, event)
            self.events.steps.append(Step(name[:MAX_NAME_CHARS], start_s, end_s))

    def _take_work(
        self, member: Member, event: Mapping[str, object], arguments: Mapping[str, object]
    ) -> None:
        start_s, end_s = self._span(member, event)
        self.events.work_start_s.append(start_s)
        self.events.work_end_s.append(end_s)
        self.events.work_correlation.append(_identifier(arguments.get("correlation")))
        self.events.work_stream.append(self._stream(event))

    def _take_call(
        self,
        member: Member,
        event: Mapping[str, object],
        arguments: Mapping[str, object],
        name: str,
    ) -> None:
        start_s, end_s = self._span(member, event)
        if "Synchronize" in name:
            self.events.wait_start_s.append(start_s)
            self.events.wait_end_s.append(end_s)
        elif (correlation := _identifier(arguments.get("correlation"))) != UNKNOWN_ID:
            self.events.call_correlation.append(correlation)
            self.events.call_s.append(start_s)

    def _take_nccl_kernel(
        self, member: Member, event: Mapping[str, object], arguments: Mapping[str, object]
    ) -> None:
        start_s, end_s = self._span(member, event)
        self._limit_collectives(member, len(self.events.nccl_kernels))
        self.events.nccl_kernels.append(
            NcclKernel(
                external_id=_identifier(arguments.get("External id")),
                correlation=_identifier(arguments.get("correlation")),
                stream=self._stream(event),
                start_s=start_s,
                end_s=end_s,
                metadata=_metadata(arguments),
            )
        )

    def _take_record(
        self, member: Member, event: Mapping[str, object], arguments: Mapping[str, object]
    ) -> None:
        start_s, _ = self._span(member, event)
        self._limit_collectives(member, len(self.events.records))
        self.events.records.append(
            HostRecord(
                external_id=_identifier(arguments.get("External id")),
                issued_s=start_s,
                metadata=_metadata(arguments),
            )
        )

    def _span(self, member: Member, event: Mapping[str, object]) -> tuple[float, float]:
        """Start and end, s. Every event that is kept passes here, and is counted."""
        self._kept += 1
        if self._kept > MAX_KEPT_EVENTS:
            raise self._refuse(
                "has too many events", f"{MAX_KEPT_EVENTS:,}: profile fewer steps", member
            )
        start_s = self._time_s(member, event, "ts")
        return start_s, start_s + self._time_s(member, event, "dur")

    def _time_s(self, member: Member, event: Mapping[str, object], key: str) -> float:
        value = event.get(key)
        if isinstance(value, int | float) and 0 <= value < MAX_TIME_US:
            return value * 1e-6
        raise self._refuse("is not a time", "microseconds, zero or more", member, key)

    def _limit_collectives(self, member: Member, count: int) -> None:
        if count >= MAX_COLLECTIVES:
            raise self._refuse(
                "has too many collectives", f"{MAX_COLLECTIVES:,}: profile fewer steps", member
            )

    def _stream(self, event: Mapping[str, object]) -> int:
        """A number for the (device, stream) that Kineto shows as process and thread."""
        place = (str(event.get("pid"))[:MAX_NAME_CHARS], str(event.get("tid"))[:MAX_NAME_CHARS])
        return self._streams.setdefault(place, len(self._streams))

    def _refuse(
        self, problem: str, allowed: str, member: Member, key: str | None = None
    ) -> BadInputError:
        where = "traceEvents" if key is None else f"traceEvents.{key}"
        return BadInputError(problem, allowed=allowed, file=self._file, line=member.line, key=where)


def _crosses_to_host(copy_name: str) -> bool:
    """Input copies run beside the training, on a stream of their own."""
    return "HtoD" in copy_name or "DtoH" in copy_name


def _metadata(arguments: Mapping[str, object]) -> CollectiveMetadata | None:
    """None where the process group noted no sizes (coalesced kernels, old versions)."""
    name, dtype = arguments.get("Collective name"), arguments.get("dtype")
    sizes = [_whole(arguments.get(f"{way} msg nelems")) for way in ("In", "Out")]
    known = [size for size in sizes if size is not None]
    if not isinstance(name, str) or not isinstance(dtype, str) or not known:
        return None
    return CollectiveMetadata(
        name[:MAX_NAME_CHARS],
        dtype[:MAX_NAME_CHARS],
        max(known),
        _group_size(arguments),
        str(arguments.get("Process Group Name", ""))[:MAX_NAME_CHARS],
        _whole(arguments.get("Seq")),
    )


def _group_size(arguments: Mapping[str, object]) -> int | None:
    """As it is noted, or as many as there are ranks, whose list may be cut short with dots."""
    size = _whole(arguments.get("Group size"))
    ranks = arguments.get("Process Group Ranks")
    if size is None and isinstance(ranks, str) and _RANKS.fullmatch(ranks):
        return ranks.count(",") + 1
    return size


def _whole(value: object) -> int | None:
    """A count, zero or more; None for anything else."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return value if is_count else None  # type: ignore[return-value]


def _identifier(value: object) -> int:
    number = _whole(value)
    return UNKNOWN_ID if number is None else number
