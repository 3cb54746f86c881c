"""What an emulation of rounds needs of the emulator, and where it gets it. The only such place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from emulator.rounds.checkpoint import Checkpoint
from emulator.rounds.evidence import StepSpan
from emulator.rounds.lease import Lease, RoundOutcome
from emulator.rounds.run import (
    RoundsEmulationSettings,
    RoundsMeasurement,
    emulated_run,
)
from emulator.rounds.scale import RoundsScale
from emulator.session import Session
from emulator.verdict import Status
from traces.emulation_spec import EmulationSpec
from traces.errors import EmulationError
from traces.server_pool import ServerPool


class Servers(Protocol):
    """The servers of one arm with one seed."""

    def run_round(self, number: int, leases: Sequence[Lease]) -> RoundOutcome:
        """Let round ``number`` pass, in which exactly ``leases`` are held."""
        ...

    @property
    def checkpoints(self) -> Mapping[str, Checkpoint]:
        """Of the jobs that have run and not ended, by id, as of the last round."""
        ...

    def take_spans(self) -> Sequence[StepSpan]:
        """Of the steps that ended since they were last taken."""
        ...

    def so_far(self) -> Status:
        """Whether it can be trusted until now."""
        ...

    def finish(self) -> RoundsMeasurement:
        """End what still runs; what was measured, and whether it can be trusted."""
        ...


@dataclass(frozen=True)
class ServersWanted:
    """The cluster of one arm with one seed.

    round_s: unscaled. directory: of the scenario, where jobs' own commands start. checkpoints: that
    jobs go on from.
    """

    session: Session | None
    pool: ServerPool
    scale: RoundsScale
    round_s: float
    seed: int
    settings: EmulationSpec
    directory: Path
    checkpoints: Mapping[str, Checkpoint] = field(default_factory=dict)


StartServers = Callable[[ServersWanted], AbstractContextManager[Servers]]


def start_servers(wanted: ServersWanted) -> AbstractContextManager[Servers]:
    """Real processes on this box: the context of an emulator.rounds.servers.EmulatedServers."""
    if wanted.session is None:
        raise EmulationError("real processes need a session on this machine")
    return emulated_run(
        wanted.session,
        RoundsEmulationSettings(
            pool=wanted.pool,
            divisors=wanted.scale.divisors,
            storage_bytes_per_s=wanted.scale.storage_bytes_per_s,
            budget_hop_bps=wanted.scale.budget_hop_bps,
            round_s=wanted.round_s,
            seed=wanted.seed,
            work=wanted.settings.work,
            directory=wanted.directory,
            checkpoints=wanted.checkpoints,
        ),
    )
