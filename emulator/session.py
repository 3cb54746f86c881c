"""A run's presence on this machine: record, cgroup, fork server; all gone at the end."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from types import TracebackType

from emulator.cgroups import create_group, holding_hierarchy, own_hierarchies
from emulator.clean import clean_run
from emulator.fork_server import ForkServer
from emulator.interrupt import interrupts_ignored
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

    def __init__(self, run_id: str) -> None:
        require_tools()
        require_privileges("run the command with sudo, or with --rootless")
        self.state = RunState.create(run_id)
        try:
            self.cgroup = self._create_cgroup()
            self._fork_server = ForkServer(self.state)
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

    @property
    def unenforced(self) -> tuple[str, ...]:
        """What runs here do without, each in a clause."""
        return (_NO_CGROUPS,) if self.cgroup is None else ()

    def group_of(self, server: str) -> Path | None:
        """The cgroup of an emulated server, made when first asked for."""
        if self.cgroup is None:
            return None
        path = self.cgroup / server
        if not path.exists():
            create_group(path)
        return path

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
        """How packets are marked on this machine. MissingCapabilityError where they cannot be."""
        namespace = probe_namespace(self.state.run_id)
        self.state.claim_namespaces((namespace,), existing_namespaces())
        try:
            return probe_marking(self.state.run_id).choice
        finally:
            self.state.release_namespaces((namespace,))

    def remove_network(self, plan: NetworkPlan) -> None:
        """Remove those namespaces of ``plan`` that are this run's, with all in them."""
        ours = [name for name in plan.namespaces.values() if name in self.state.namespaces]
        remove_namespaces(ours)
        self.state.release_namespaces(ours)

    def explain(self) -> str:
        """What a child last wrote to its standard error."""
        return self._fork_server.log_tail()
