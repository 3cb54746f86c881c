"""Puts a marker at a port, reads back that it is there, and reads what it counts.

Nothing is pinned and no descriptor stays open: the device's filter holds the program, the program
holds the map, and all go with the namespace.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import time
from collections.abc import Iterator
from types import TracebackType

from netshaper.ecn import bpf_calls
from netshaper.ecn.assembler import encode
from netshaper.ecn.marker import VALUE_BYTES, MarkCounts, decode_counts, marker_program
from netshaper.ecn.virtual_queue import MarkerSettings, end_at_another_rate
from netshaper.netlink import EgressProgram, NetlinkSocket
from netshaper.plan import NetworkPlan
from traces.errors import EmulationError, MissingCapabilityError

_PROGRAM_NAME = "roundelay_ecn"
_END_BYTES = 8
_NOT_BUILT_IN = (errno.ENOENT, errno.EOPNOTSUPP)
_REMEDY = "run as root outside a user namespace, with CAP_BPF, CAP_NET_ADMIN and CAP_SYS_ADMIN"
_REMEDY_KERNEL = (
    "use a kernel with CONFIG_BPF_SYSCALL, CONFIG_NET_CLS_BPF and CONFIG_NET_SCH_INGRESS"
)


def filter_name(settings: MarkerSettings) -> str:
    """Name of the filter: what ``tc filter show dev DEVICE egress`` says of the marker."""
    return (
        f"{_PROGRAM_NAME} rate {settings.rate_bps}bit threshold {settings.threshold_bytes} "
        f"burst {settings.burst_bytes} limit {settings.buffer_bytes} "
        f"unshaped_below {settings.unshaped_below_bytes}"
    )


def attach_marker(namespace: str, device: str, settings: MarkerSettings) -> int:
    """Have what leaves ``device`` marked from now on; returns the program's id.

    Raises MissingCapabilityError where this process or this kernel cannot, and EmulationError
    where the kernel does not accept the program or the device has a marker already.
    """
    with contextlib.ExitStack() as stack:
        with _capability():
            counts = bpf_calls.create_array(_PROGRAM_NAME, VALUE_BYTES)
        stack.callback(os.close, counts)
        program = _load(settings, counts, stack)
        program_id = bpf_calls.program_info(program).program_id
        reader = stack.enter_context(contextlib.closing(NetlinkSocket(namespace)))
        index = _index(reader, namespace, device)
        try:
            reader.add_egress_hook(index)
            reader.add_egress_program(index, program, filter_name(settings))
        except FileExistsError:
            raise EmulationError(f"{namespace} {device} has a marker already") from None
        except OSError as error:
            if error.errno in _NOT_BUILT_IN:
                lacking = "the kernel has no clsact or no cls_bpf"
                raise MissingCapabilityError(lacking, remedy=_REMEDY_KERNEL) from None
            raise EmulationError(f"{namespace} {device} takes no marker: {error}") from None
    return program_id


def change_marker(
    namespace: str, device: str, before: MarkerSettings, after: MarkerSettings
) -> None:
    """Have a marker go on with other settings: with its counts, and with the queue that it found.

    The queue takes another time at another rate. What arrives between the two steps of this, some
    microseconds, may be missing in it until the port is idle. Raises as ``attach_marker``, and
    EmulationError where the marker is not as ``before``.
    """
    found = check_marker(namespace, device, before)
    with contextlib.ExitStack() as stack:
        counts = _open_counts(found)
        stack.callback(os.close, counts)
        program = _load(after, counts, stack)
        reader = stack.enter_context(contextlib.closing(NetlinkSocket(namespace)))
        index = _index(reader, namespace, device)
        with _capability():
            reader.replace_egress_program(index, program, filter_name(after))
            value = stack.enter_context(mmap.mmap(counts, VALUE_BYTES))
        end = stack.enter_context(memoryview(value)[:_END_BYTES].cast("Q"))
        end[0] = end_at_another_rate(end[0], time.monotonic_ns(), before, after)


def attach_markers(plan: NetworkPlan) -> None:
    """Attach the marker of every port of ``plan`` that has one. Raises as ``attach_marker``."""
    for end in plan.ports.values():
        if end.marker is not None:
            attach_marker(end.namespace, end.device, end.marker)


def check_marker(namespace: str, device: str, settings: MarkerSettings) -> EgressProgram:
    """The marker that the kernel holds; EmulationError with both where it is not as planned."""
    with contextlib.closing(NetlinkSocket(namespace)) as reader:
        found = reader.egress_programs(_index(reader, namespace, device))
    planned = filter_name(settings)
    if [(program.name, program.direct) for program in found] != [(planned, True)]:
        names = ", ".join(f"{each.name!r} (direct: {each.direct})" for each in found) or "none"
        raise EmulationError(
            f"the marker of {namespace} {device}: planned {planned!r} (direct: True), found {names}"
        )
    return found[0]


class MarkReader:
    """Reads the counts of one port's marker; one call of the kernel, some microseconds, a read.

    Any privileged process can open one, also long after the marker was attached. It keeps the
    map, not the marker: close it, or use it as a context manager. EmulationError where the port
    has no marker.
    """

    def __init__(self, namespace: str, device: str) -> None:
        with contextlib.closing(NetlinkSocket(namespace)) as reader:
            found = reader.egress_programs(_index(reader, namespace, device))
        markers = [each for each in found if each.name.startswith(f"{_PROGRAM_NAME} ")]
        if not markers:
            raise EmulationError(f"{namespace} {device} has no marker")
        self._map = _open_counts(markers[0])

    def counts(self) -> tuple[MarkCounts, ...]:
        """Counts since the marker was attached, by DSCP: 64 of them."""
        return decode_counts(bpf_calls.read_array(self._map, VALUE_BYTES))

    def close(self) -> None:
        """Give the map back."""
        os.close(self._map)

    def __enter__(self) -> MarkReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _open_counts(marker: EgressProgram) -> int:
    """A descriptor of a marker's map."""
    with _capability(), _opened(bpf_calls.open_program(marker.program_id)) as program:
        (map_id,) = bpf_calls.program_info(program).map_ids
        return bpf_calls.open_map(map_id)


def _load(settings: MarkerSettings, counts: int, stack: contextlib.ExitStack) -> int:
    with _capability():
        code = encode(marker_program(settings, counts))
        try:
            program = bpf_calls.load_classifier(_PROGRAM_NAME, code)
        except bpf_calls.RejectedProgramError as error:
            raise EmulationError(f"the kernel rejects the marker: {error}") from None
        stack.callback(os.close, program)
    return program


def _index(reader: NetlinkSocket, namespace: str, device: str) -> int:
    links = reader.links()
    if device not in links:
        raise EmulationError(f"{namespace} has no device {device}")
    return links[device].index


@contextlib.contextmanager
def _capability() -> Iterator[None]:
    """Turns the kernel's refusals into what this machine lacks."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES):
            lacking = "this process may not load BPF programs"
            raise MissingCapabilityError(lacking, remedy=_REMEDY) from None
        if error.errno == errno.ENOSYS:
            lacking = f"there is no bpf system call: {error.strerror}"
            raise MissingCapabilityError(lacking, remedy=_REMEDY_KERNEL) from None
        raise EmulationError(f"the marker cannot be loaded or read: {error}") from None


@contextlib.contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)
