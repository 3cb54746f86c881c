"""What one training iteration puts on the network."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_FIRST_RANK = 0


class Pattern(StrEnum):
    """Who sends to whom in a transfer."""

    RING = "ring"
    ALL_TO_ALL = "all_to_all"
    PAIRS = "pairs"


@dataclass(frozen=True)
class Transfer:
    """One burst of an iteration's traffic.

    ready_s: when, on the compute timeline, its data are ready to be sent.
    bytes: what each sending worker puts on the wire for it.
    blocking: the compute timeline waits for its end.
    rate_limit_bps: the sender's own limit, where it has one.
    pairs: (source rank, destination rank), for the pattern ``pairs`` only.
    """

    ready_s: float
    bytes: float
    pattern: Pattern = Pattern.RING
    blocking: bool = False
    rate_limit_bps: float | None = None
    pairs: tuple[tuple[int, int], ...] = ()
    name: str = ""

    def flows(self, num_workers: int) -> tuple[tuple[int, int, float], ...]:
        """(source rank, destination rank, bytes) of each flow among ``num_workers`` workers."""
        ranks = range(num_workers)
        if num_workers < 2:
            return ()
        if self.pattern is Pattern.RING:
            return tuple((rank, (rank + 1) % num_workers, self.bytes) for rank in ranks)
        if self.pattern is Pattern.ALL_TO_ALL:
            share = self.bytes / (num_workers - 1)
            return tuple((a, b, share) for a in ranks for b in ranks if a != b)
        return tuple((a, b, self.bytes) for a, b in self.pairs)

    def sent_bytes(self, rank: int) -> float:
        """What worker ``rank`` puts on the wire for it: nothing, where it is no pair's source."""
        if self.pattern is not Pattern.PAIRS:
            return self.bytes
        return self.bytes * sum(source == rank for source, _ in self.pairs)


@dataclass(frozen=True)
class Demand:
    """A compute timeline of ``compute_s`` with transfers on it, in order of ``ready_s``.

    An iteration ends when the timeline and all transfers have ended, and the samples of the next
    are there: ``input_s`` is what the input pipeline takes for them from the start of this one on,
    while it computes and sends. 0 where nobody waits for them.
    """

    compute_s: float
    transfers: tuple[Transfer, ...]
    input_s: float = 0.0

    def __post_init__(self) -> None:
        for name in ("compute_s", "input_s"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} is {getattr(self, name)}, and must be zero or more")
        for index, transfer in enumerate(self.transfers):
            if not 0 <= transfer.ready_s <= self.compute_s:
                raise ValueError(
                    f"transfer {index} is ready at {transfer.ready_s} s, "
                    f"outside the compute timeline of {self.compute_s} s"
                )
            if not 0 < transfer.bytes < float("inf"):
                raise ValueError(
                    f"transfer {index} has {transfer.bytes} bytes, and must have more than 0"
                )
        if list(self.transfers) != sorted(self.transfers, key=lambda transfer: transfer.ready_s):
            raise ValueError("transfers are not in the order of ready_s")

    @property
    def bytes_per_worker(self) -> float:
        """Bytes that a worker sends in one iteration, if it takes part in every transfer."""
        return sum(transfer.bytes for transfer in self.transfers)


@dataclass(frozen=True)
class Phase:
    """A stretch of the demand curve at one rate (an Up phase of CASSINI)."""

    start_s: float
    end_s: float
    rate_bps: float


@dataclass(frozen=True)
class DemandCurve:
    """Rate over one period: ``phases`` do not overlap; between them the rate is zero."""

    period_s: float
    phases: tuple[Phase, ...]


@dataclass(frozen=True)
class SentTransfer:
    """When a transfer goes out, on the clock of its iteration.

    ready_s: when its data are ready, with what computing waited before. rate_bps: at which it goes
    out from ``start_s`` to ``end_s``. is_own: the first worker sends it, and not only others.
    """

    transfer: Transfer
    ready_s: float
    start_s: float
    end_s: float
    rate_bps: float
    is_own: bool


@dataclass(frozen=True)
class DedicatedIteration:
    """One iteration whose job has a link for itself.

    computing: (start_s, end_s) of the stretches between which computing waits for the network.
    """

    period_s: float
    computing: tuple[tuple[float, float], ...]
    transfers: tuple[SentTransfer, ...]


def dedicated_iteration(demand: Demand, line_rate_bps: float) -> DedicatedIteration:
    """The first worker's iteration when it alone uses a link of ``line_rate_bps``.

    Transfers go out in order, each at the line rate or its own limit; a blocking one holds the
    compute timeline, also where only others send. The period is the dedicated iteration time
    (CASSINI section 3: a job's circle).
    """
    if line_rate_bps <= 0:
        raise ValueError(f"the line rate is {line_rate_bps} bps, and must be more than 0")
    sent: list[SentTransfer] = []
    computing: list[tuple[float, float]] = []
    network_free_s = 0.0
    others_end_s = 0.0
    held_s = 0.0
    resumed_s = 0.0
    for transfer in demand.transfers:
        rate_bps = min(line_rate_bps, transfer.rate_limit_bps or line_rate_bps)
        ready_s = transfer.ready_s + held_s
        sent_bytes = transfer.sent_bytes(_FIRST_RANK)
        start_s = max(ready_s, network_free_s) if sent_bytes else ready_s
        end_s = start_s + (sent_bytes or transfer.bytes) * 8 / rate_bps
        sent.append(SentTransfer(transfer, ready_s, start_s, end_s, rate_bps, sent_bytes > 0))
        if transfer.blocking:
            held_s += max(0.0, end_s - ready_s)
            computing.append((resumed_s, ready_s))
            resumed_s = end_s
        if sent_bytes:
            network_free_s = end_s
        else:
            others_end_s = max(others_end_s, end_s)
    computing.append((resumed_s, demand.compute_s + held_s))
    return DedicatedIteration(
        max(demand.compute_s + held_s, network_free_s, others_end_s, demand.input_s),
        tuple((start_s, end_s) for start_s, end_s in computing if end_s > start_s),
        tuple(sent),
    )


def demand_curve(demand: Demand, line_rate_bps: float) -> DemandCurve:
    """The curve of the first worker's traffic in its dedicated iteration."""
    iteration = dedicated_iteration(demand, line_rate_bps)
    phases: list[Phase] = []
    for sent in iteration.transfers:
        if not sent.is_own:
            continue
        if phases and (phases[-1].end_s, phases[-1].rate_bps) == (sent.start_s, sent.rate_bps):
            phases[-1] = Phase(phases[-1].start_s, sent.end_s, sent.rate_bps)
        else:
            phases.append(Phase(sent.start_s, sent.end_s, sent.rate_bps))
    return DemandCurve(iteration.period_s, tuple(phases))
