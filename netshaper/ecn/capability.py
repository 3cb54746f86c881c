"""Which way of marking this machine has, found by trying each in a namespace of its own."""

from __future__ import annotations

from dataclasses import dataclass

from netshaper.apply import remove_namespaces, run_commands
from netshaper.ecn.loader import attach_marker, check_marker
from netshaper.ecn.marking import Marking
from netshaper.ecn.red import red_words
from netshaper.ecn.virtual_queue import MarkerSettings
from netshaper.namespaces import can_make_namespaces
from netshaper.plan import Command, namespace_name
from traces.errors import EmulationError, MissingCapabilityError

_RATE_BPS, _THRESHOLD_BYTES, _BURST_BYTES, _BUFFER_BYTES = 10**9, 80_000, 12_500, 10**6
_DEVICE = "lo"


@dataclass(frozen=True)
class MarkingSupport:
    """Why a way of marking does not work here; None where it does."""

    why_no_marker: str | None
    why_no_red: str | None

    @property
    def choice(self) -> Marking:
        """The marker where it works, since it marks and counts the same way on every machine, by
        port and by job; ``red`` elsewhere, where that works."""
        if self.why_no_marker is None:
            return Marking.MARKER
        if self.why_no_red is None:
            return Marking.RED
        return Marking.UNAVAILABLE

    def require(self) -> None:
        """Raise MissingCapabilityError where neither works."""
        if self.choice is Marking.UNAVAILABLE:
            raise MissingCapabilityError(
                f"nothing here can mark packets "
                f"(eBPF: {self.why_no_marker}; red: {self.why_no_red})",
                remedy="run as root on a kernel with CONFIG_NET_CLS_BPF or CONFIG_NET_SCH_RED",
            )


def probe_namespace(run_id: str) -> str:
    """Name of the namespace that ``probe_marking`` makes; a run records it before."""
    return namespace_name(run_id, "probe", "ecn")


def probe_marking(run_id: str) -> MarkingSupport:
    """Try both in a new namespace, which is gone afterwards.

    MissingCapabilityError where no namespace can be made.
    """
    if not can_make_namespaces():
        raise MissingCapabilityError("this process may not make namespaces", remedy="use sudo")
    namespace = probe_namespace(run_id)
    run_commands((Command("ip", ("netns", "add", namespace)),))
    try:
        return MarkingSupport(_try_marker(namespace), _try_red(namespace))
    finally:
        remove_namespaces((namespace,))


def _try_marker(namespace: str) -> str | None:
    settings = MarkerSettings(_RATE_BPS, _THRESHOLD_BYTES, _BURST_BYTES, _BUFFER_BYTES)
    try:
        attach_marker(namespace, _DEVICE, settings)
        check_marker(namespace, _DEVICE, settings)
    except (MissingCapabilityError, EmulationError) as error:
        return str(error)
    return None


def _try_red(namespace: str) -> str | None:
    words = red_words(_RATE_BPS, _THRESHOLD_BYTES, _BURST_BYTES, _BUFFER_BYTES)
    place = ("qdisc", "add", "dev", _DEVICE, "root")
    try:
        run_commands((Command("tc", (*place, *words), namespace),))
    except EmulationError as error:
        return str(error)
    return None
