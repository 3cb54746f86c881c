"""A run's presence on this machine: record, cgroup, fork server; all gone at the end."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from emulator.cgroups import (
    create_group,
    holding_hierarchy,
    own_hierarchies,
    remove_group,
)
from emulator.clean import clean_run
from emulator.fork_server import NETWORK_KINDS, ForkServer
from emulator.interrupt import interrupts_ignored
from emulator.limits.available import limits_available
from emulator.limits.limited_group import LimitedGroup
from emulator.limits.run_groups import RunGroups
from emulator.messages import Message, MessageSocket
from netshaper.apply import build, existing_namespaces, remove_namespaces, require_tools
from netshaper.ecn.capability import probe_marking, probe_namespace
from netshaper.ecn.loader import attach_markers
from netshaper.ecn.marking import Marking
from netshaper.namespaces import can_make_namespaces
from netshaper.plan import NetworkPlan
from netshaper.readback import check_network
from netshaper.rootless import is_rootless
from netshaper.run_state import RunState
from traces.errors import MissingCapabilityError

_NO_CGROUPS = (
    "servers have no cgroups: their processes are not held together there, and no limit on their "
    "CPU or memory is kept"
)
_NO_MARKS = (
    "packets are not marked above ecn_threshold: the eBPF marker needs root outside a user "
    "namespace, and this kernel has no red"
)


def require_privileges(without_root: str = "run the command with sudo") -> None:
    """Raise MissingCapabilityError where this process may not make namespaces.

    without_root: what to do where it is not root.
    """
    if os.geteuid() != 0:
        raise MissingCapabilityError("making network namespaces needs root", remedy=without_root)
    if not can_make_namespaces():
        raise MissingCapabilityError(
            "this process is root but may not make network namespaces",
            remedy="give its container CAP_SYS_ADMIN and CAP_NET_ADMIN (docker run --privileged)",
        )


class Session:
    """Context of one emulated run. Leaving it removes everything, whatever happened inside."""

    def __init__(
        self, run_id: str, *, limits: bool = False, kinds: Sequence[str] = NETWORK_KINDS
    ) -> None:
        """limits: whether processes of this run will be held to CPU and memory. kinds: of children
        that will be started."""
        require_tools()
        require_privileges("run the command with sudo, or with --rootless")
        self.state = RunState.create(run_id)
        self._groups: RunGroups | None = None
        try:
            self.cgroup = self._create_limits() if limits else self._create_cgroup()
            self._fork_server = ForkServer(self.state, kinds)
        except BaseException:
            clean_run(self.state)
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with interrupts_ignored():
            self._fork_server.close()
            clean_run(self.state)

    def _create_cgroup(self) -> Path | None:
        # Real root may write to the host's also from inside a user namespace; but only a record
        # would find a cgroup after a kill, and a rootless run's is gone by then.
        hierarchy = None if is_rootless() else holding_hierarchy(own_hierarchies())
        if hierarchy is None:
            return None
        path = hierarchy.own_group / f"roundelay-{self.state.run_id}"
        self.state.claim_cgroup(path)
        create_group(path)
        return path

    def _create_limits(self) -> Path | None:
        available = limits_available(own_hierarchies())
        if is_rootless() or not available.places:
            return None
        self._groups = RunGroups.create(self.state, available)
        return self._groups.places[0].path

    def unenforced(self, marking: Marking) -> tuple[str, ...]:
        """What an arm with this marking does without here, each in a clause."""
        lacking = {
            _NO_CGROUPS: self.cgroup is None,
            _NO_MARKS: marking is Marking.UNAVAILABLE,
        }
        limits = self._groups.available.unenforced if self._groups else ()
        return (*(clause for clause, lacks in lacking.items() if lacks), *limits)

    def group_of(self, server: str) -> Path | None:
        """The cgroup of an emulated server, made when first asked for."""
        if self.cgroup is None:
            return None
        path = self.cgroup / server
        if not path.exists():
            create_group(path)
        return path

    @property
    def missing_limits(self) -> Mapping[str, str]:
        """Of CPU, cpuset and memory what cannot be limited, and what to do about it."""
        if self._groups is not None:
            return self._groups.available.missing
        return dict.fromkeys(("cpu", "cpuset", "memory"), "run as root outside a user namespace")

    def limited_group(self, name: str) -> LimitedGroup | None:
        """A new group that CPU and memory can be limited in; None where runs here have none."""
        return self._groups.create_group(name) if self._groups else None

    def end_group(self, server: str) -> None:
        """End the children of ``server`` and remove its group. Where there are none, do nothing."""
        if self.cgroup is not None:
            remove_group(self.cgroup / server)

    def start(self, kind: str, specification: Message, server: str = "controller") -> MessageSocket:
        """Start a child of ``kind`` in the cgroup of ``server``."""
        return self._fork_server.start(kind, specification, self.group_of(server))

    def build_network(self, plan: NetworkPlan) -> None:
        """Build ``plan`` and check that the kernel holds what was asked for."""
        self.state.claim_namespaces(plan.namespaces.values(), existing_namespaces())
        build(plan)
        if plan.marking is Marking.MARKER:
            attach_markers(plan)
        check_network(plan)

    @functools.cached_property
    def marking(self) -> Marking:
        """How packets are marked on this machine.

        UNAVAILABLE in a rootless run where they cannot be, for its user may have no way to change
        that; MissingCapabilityError in another.
        """
        namespace = probe_namespace(self.state.run_id)
        self.state.claim_namespaces((namespace,), existing_namespaces())
        try:
            support = probe_marking(self.state.run_id)
        finally:
            self.state.release_namespaces((namespace,))
        if not is_rootless():
            support.require()
        return support.choice

    def remove_network(self, plan: NetworkPlan) -> None:
        """Remove those namespaces of ``plan`` that are this run's, with all in them."""
        ours = [name for name in plan.namespaces.values() if name in self.state.namespaces]
        remove_namespaces(ours)
        self.state.release_namespaces(ours)

    def explain(self) -> str:
        """What a child last wrote to its standard error."""
        return self._fork_server.log_tail()
