"""Holds the jobs on each server to their storage bandwidth, and gives out the slots for it."""

from __future__ import annotations

import contextlib

from emulator.rounds.cluster_network import ClusterNetwork, slot_name
from netshaper.apply import run_commands
from netshaper.ceilings import ceiling_command, ceiling_difference
from netshaper.netlink import NetlinkSocket
from traces.errors import EmulationError


class StorageCeilings:
    """The slots of every server: which are free, and what their traffic is held to."""

    def __init__(self, network: ClusterNetwork, num_servers: int, rate_divisor: float) -> None:
        self._network = network
        self._rate_divisor = rate_divisor
        self._free = {server: list(range(network.slots)) for server in range(num_servers)}

    def take(self, server: int) -> int:
        """A free slot of ``server``. EmulationError where more jobs hold it than it has GPUs."""
        if not self._free[server]:
            raise EmulationError(f"more jobs hold server {server} than it has GPUs")
        return self._free[server].pop(0)

    def give_back(self, server: int, slot: int) -> None:
        """``slot`` is free again; what it was held to stays until somebody takes it."""
        self._free[server].append(slot)
        self._free[server].sort()

    def dscp(self, slot: int) -> int:
        """What marks the packets of the job that holds ``slot``."""
        return self._network.plan.job_dscp[slot_name(slot)]

    def hold(self, server: int, slot: int, bytes_per_s: float) -> None:
        """Hold ``slot`` to ``bytes_per_s`` (unscaled, may be infinite), and read that back."""
        end = self._network.plan.ports[self._network.storage_port(server)]
        wanted_bps = min(bytes_per_s * 8 / self._rate_divisor, end.shape.rate_bps)
        run_commands([ceiling_command(end, slot_name(slot), wanted_bps)])
        with contextlib.closing(NetlinkSocket(end.namespace)) as reader:
            found = reader.classes(reader.links()[end.device].index)
        difference = ceiling_difference(end, slot_name(slot), wanted_bps, found)
        if difference is not None:
            raise EmulationError(f"the kernel holds other settings than planned: {difference}")
