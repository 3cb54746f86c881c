"""The record of what a run makes on this machine, written before it is made.

One directory per run under the state directory; ``clean`` needs nothing else, also after a kill -9.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from netshaper.plan import RUN_ID_PATTERN
from netshaper.private_run import RECORDS
from netshaper.rootless import is_rootless
from traces.errors import BadInputError, EmulationError

STATE_DIRECTORY_VARIABLE = "ROUNDELAY_STATE_DIR"
_RECORD = "record.json"
_BESIDE = re.compile(r"\.[a-z0-9]+-(\d+)-\w+")  # the directory of a claim that process PID makes


@dataclass(frozen=True)
class ProcessIdentity:
    """A process that cannot be confused with a later one of the same id."""

    pid: int
    start_ticks: int

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """Identity of ``pid``, or None where there is no such process."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return None
        # The second field is the name in brackets and may hold spaces; start time is the 22nd.
        fields = text.rpartition(")")[2].split()
        return None if fields[0] in ("Z", "X") else cls(pid, int(fields[19]))

    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        return ProcessIdentity.of(self.pid) == self


def boot_id() -> str:
    """Changes with every boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def state_root() -> Path:
    """Where the records of all runs are: $ROUNDELAY_STATE_DIR, or /run/roundelay.

    A rootless run's vanish with it, like all that they name: always in its own /run/roundelay.
    """
    chosen = None if is_rootless() else os.environ.get(STATE_DIRECTORY_VARIABLE)
    return Path(chosen) if chosen else RECORDS


def check_run_id(run_id: str) -> str:
    """Return ``run_id``; BadInputError where it cannot be part of names."""
    if not RUN_ID_PATTERN.fullmatch(run_id):
        allowed = "4 to 12 lower-case letters and digits"
        raise BadInputError(f"{run_id!r} is not a run id", allowed=allowed, key="--run-id")
    return run_id


def new_run_id() -> str:
    """Eight random hexadecimal digits."""
    return secrets.token_hex(4)


@dataclass
class RunState:
    """What one run owns here. Every change is on disk before the thing itself is made."""

    run_id: str
    owner: ProcessIdentity
    boot: str
    namespaces: list[str] = field(default_factory=list)
    cgroups: list[str] = field(default_factory=list)
    processes: list[ProcessIdentity] = field(default_factory=list)

    @property
    def directory(self) -> Path:
        """The run's own directory, for its record, sockets and logs."""
        return state_root() / self.run_id

    @classmethod
    def create(cls, run_id: str) -> RunState:
        """Claim ``run_id``. EmulationError where another run holds it."""
        check_run_id(run_id)
        owner = ProcessIdentity.of(os.getpid())
        if owner is None:
            raise EmulationError("/proc does not show this process; is it mounted?")
        state = cls(run_id, owner, boot_id())
        # Made whole beside its place and then moved there: a record is never seen half written.
        beside = _directory_beside(run_id)
        state._write(beside)
        try:
            beside.rename(state.directory)
        except OSError:
            shutil.rmtree(beside)
            raise EmulationError(
                f"the run id {run_id} is in use or was left behind; "
                f"choose another, or remove it with 'roundelay clean --run {run_id}'"
            ) from None
        return state

    def claim_namespaces(self, names: Iterable[str], existing: set[str]) -> None:
        """Record namespaces about to be made; EmulationError where somebody else has one."""
        wanted = list(names)
        taken = sorted(set(wanted) & existing)
        if taken:
            raise EmulationError(f"the namespace {taken[0]} exists already, and is not of this run")
        self.namespaces += wanted
        self.save()

    def release_namespaces(self, names: Iterable[str]) -> None:
        """Forget namespaces that were removed."""
        gone = set(names)
        self.namespaces = [name for name in self.namespaces if name not in gone]
        self.save()

    def claim_cgroup(self, path: Path) -> None:
        """Record a cgroup about to be made."""
        self.cgroups.append(str(path))
        self.save()

    def claim_process(self, pid: int) -> None:
        """Record a process of the run."""
        identity = ProcessIdentity.of(pid)
        if identity is not None:
            self.processes.append(identity)
            self.save()

    def save(self) -> None:
        """Write the record; the old one stays whole until the new one is."""
        self._write(self.directory)

    def _write(self, directory: Path) -> None:
        partial = directory / f"{_RECORD}.new"
        partial.write_text(json.dumps(asdict(self), indent=1))
        partial.replace(directory / _RECORD)

    def forget(self) -> None:
        """Remove the run's directory, the last thing to go, and the root after the last run's."""
        shutil.rmtree(self.directory, ignore_errors=True)
        with contextlib.suppress(OSError):  # another run is still there
            state_root().rmdir()


def _directory_beside(run_id: str) -> Path:
    """A new private directory in the state root, which a run that ends may just be removing."""
    while True:
        state_root().mkdir(mode=0o755, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            return Path(tempfile.mkdtemp(prefix=f".{run_id}-{os.getpid()}-", dir=state_root()))


def remove_unfinished_claims() -> None:
    """Remove what processes left that were killed while they claimed a run id: no run has it."""
    if not state_root().is_dir():
        return
    for directory in state_root().iterdir():
        claim = _BESIDE.fullmatch(directory.name)
        if claim and ProcessIdentity.of(int(claim[1])) is None:
            shutil.rmtree(directory, ignore_errors=True)
    with contextlib.suppress(OSError):  # runs are still there
        state_root().rmdir()


def load_state(directory: Path) -> RunState:
    """Read one record; a directory whose record was never written owns nothing but itself."""
    try:
        record = json.loads((directory / _RECORD).read_text())
    except (OSError, ValueError):
        return RunState(directory.name, ProcessIdentity(-1, -1), "")
    return RunState(
        run_id=directory.name,
        owner=ProcessIdentity(**record["owner"]),
        boot=record["boot"],
        namespaces=list(record["namespaces"]),
        cgroups=list(record["cgroups"]),
        processes=[ProcessIdentity(**process) for process in record["processes"]],
    )


def all_states() -> Iterator[RunState]:
    """Every run that has a record here, by id."""
    if state_root().is_dir():
        for directory in sorted(state_root().iterdir()):
            if directory.is_dir() and RUN_ID_PATTERN.fullmatch(directory.name):
                yield load_state(directory)
