"""What an importer of communication traces makes of files, and how a format is told from others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from traces.model_profile import ModelProfile


@dataclass(frozen=True, slots=True)
class CollectiveRecord:
    """One collective of one iteration, or one send or receive.

    name: 'allreduce', 'allgather', 'reducescatter', 'alltoall', 'broadcast', 'reduce', 'send' or
        'recv'.
    ready_s: when its data were ready, on the compute timeline.
    bytes: of the full buffer, the larger of input and output.
    wire_bytes: what one worker puts on the wire (what reaches it, for a 'recv').
    compute_waited: computing stood still for most of its life, and went on when it had ended.
    work_follows: the worker computed in this iteration after it had ended, or the trace cannot say.
    start_s: when it began, from the begin of the iteration; None where the trace does not say.
    elements, dtype: of the full buffer; None where the trace counts bytes only.
    """

    name: str
    ready_s: float
    bytes: float
    wire_bytes: float
    group_size: int
    compute_waited: bool
    work_follows: bool
    start_s: float | None = None
    elements: int | None = None
    dtype: str | None = None


@dataclass(frozen=True)
class IterationRecord:
    """One iteration. compute_s: without the waiting for the network.

    duration_s: as measured, with the waiting; None where nobody measured it.
    """

    index: int
    name: str
    duration_s: float | None
    compute_s: float
    collectives: tuple[CollectiveRecord, ...]

    @property
    def waited_s(self) -> float:
        """How long computing stood still for the network; 0 where nobody measured it."""
        return 0.0 if self.duration_s is None else self.duration_s - self.compute_s


@dataclass(frozen=True)
class CommunicationImport:
    """A profile, the iterations that it was made from, and what was left out or assumed."""

    profile: ModelProfile
    iterations: tuple[IterationRecord, ...]
    notes: tuple[str, ...]


OptionName = Literal["--partial", "--group-size", "--compute"]


@dataclass(frozen=True)
class ImportOptions:
    """What a person adds to what files say.

    model: the profile's name for it; made from the file's name where None.
    partial: read what a file has that ends too early, or that does not say all it should.
    group_sizes: the number of workers of a group, by the name that the format has for it.
    compute_s: how long an iteration computes, where the files tell no computing.
    """

    model: str | None = None
    partial: bool = False
    group_sizes: Mapping[str, int] = field(default_factory=dict)
    compute_s: float | None = None

    def given(self) -> tuple[OptionName, ...]:
        """The options that are not at their defaults and that some formats have no use for."""
        present: dict[OptionName, bool] = {
            "--partial": self.partial,
            "--group-size": bool(self.group_sizes),
            "--compute": self.compute_s is not None,
        }
        return tuple(name for name, is_given in present.items() if is_given)


@dataclass(frozen=True)
class CommunicationFormat:
    """One format. title: what it is, a clause for a person.

    read: of one file, or one for each rank. Raises BadInputError with the file, the line or record
        and the key of what is wrong.
    is_format: of the first bytes of a file, unpacked.
    options: those of ImportOptions that it has a use for.
    """

    name: str
    title: str
    read: Callable[[Sequence[Path], ImportOptions], CommunicationImport]
    is_format: Callable[[bytes], bool]
    options: frozenset[OptionName] = frozenset()
    one_file_per_rank: bool = False
