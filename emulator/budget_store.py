"""The measured budget of this box: one JSON document of the user's, and whether it holds here."""

from __future__ import annotations

import datetime
import os
import pwd
import tempfile
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from emulator.machine import Machine, this_machine
from emulator.scale import Budget, assumed_budget
from netshaper.run_state import STATE_DIRECTORY_VARIABLE
from traces.errors import BadInputError
from traces.run_directory import give_to_caller

_FILE = "budget.json"
_MOST_BYTES = 2**16


class MeasuredBudget(BaseModel):
    """What a box carried: bit/s x hops, with the CPU share and the rate error at that load."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    hop_bps: float = Field(gt=0, le=1e15, allow_inf_nan=False)
    cpu_share: float = Field(ge=0, le=1)
    rate_error: float = Field(ge=-1, allow_inf_nan=False)
    measured_utc: AwareDatetime
    kernel: str
    cpu: str | None
    cores: int = Field(ge=1)

    @property
    def machine(self) -> Machine:
        """The box that it was measured on."""
        return Machine(self.kernel, self.cpu, self.cores)

    @property
    def date(self) -> datetime.date:
        """The day of the measurement (UTC)."""
        return self.measured_utc.astimezone(datetime.UTC).date()

    def age(self, now: datetime.datetime) -> str:
        """``today``, ``yesterday`` or ``12 days ago``."""
        days = max((now.astimezone(datetime.UTC).date() - self.date).days, 0)
        return {0: "today", 1: "yesterday"}.get(days, f"{days} days ago")


def budget_file() -> Path:
    """In $ROUNDELAY_STATE_DIR, $XDG_STATE_HOME/roundelay or ~/.local/state/roundelay.

    Under sudo, ~ is the home of the user who called: ``plan`` without root is to find the file.
    """
    chosen = os.environ.get(STATE_DIRECTORY_VARIABLE)
    if chosen:
        return Path(chosen) / _FILE
    state_home = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not state_home.is_absolute():  # the XDG specification has a relative one ignored
        state_home = _home() / ".local" / "state"
    return state_home / "roundelay" / _FILE


def _home() -> Path:
    uid = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and uid.isdecimal():
        try:
            return Path(pwd.getpwuid(int(uid)).pw_dir)
        except KeyError:  # a user of a container that its /etc/passwd does not name
            pass
    return Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() fails where there is no home


def store_budget(budget: MeasuredBudget) -> Path:
    """Write the document whole or not at all; it belongs to the user who called.

    Raises BadInputError where the place is not writable.
    """
    file = budget_file()
    absent = [path for path in (file.parent, *file.parent.parents) if not path.exists()]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _replace(file, budget.model_dump_json(indent=2) + "\n")
    except OSError as error:
        raise BadInputError(
            f"the budget cannot be stored: {error.strerror}",
            allowed=f"a writable place, or another in ${STATE_DIRECTORY_VARIABLE}",
            file=file,
        ) from None
    give_to_caller(absent[-1] if absent else file)
    return file


def _replace(file: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    new = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(text)
        new.chmod(0o644)
        new.replace(file)
    except BaseException:
        new.unlink()
        raise


def read_budget() -> MeasuredBudget | None:
    """The stored budget; None where none is. Raises BadInputError where it is damaged."""
    file = budget_file()
    allowed = "what 'roundelay doctor --measure' writes"
    try:
        with file.open("rb") as opened:
            return MeasuredBudget.model_validate_json(opened.read(_MOST_BYTES))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInputError(
            f"cannot be read: {error.strerror}", allowed=allowed, file=file
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"]) or None
        raise BadInputError(first["msg"], allowed=allowed, file=file, key=key) from None


def budget_for(stored: MeasuredBudget | None, machine: Machine) -> Budget:
    """What ``machine`` carries: as measured, where that was on such a machine, or assumed. Pure."""
    if stored is None:
        return assumed_budget(machine.cores)
    difference = stored.machine.difference(machine)
    if difference is not None:
        not_used = f"it was measured on {stored.date} with another {difference}"
        return assumed_budget(machine.cores, not_used)
    return Budget(stored.hop_bps, f"measured on {stored.date}", is_measured=True)


def stored_and_used() -> tuple[MeasuredBudget | None, Budget]:
    """What is stored, and what a run on this box reckons with.

    A damaged file costs no run: it is not used, and the budget says why.
    """
    machine = this_machine()
    try:
        stored = read_budget()
    except BadInputError as error:
        return None, assumed_budget(machine.cores, str(error))
    return stored, budget_for(stored, machine)


def budget_here() -> Budget:
    """What a run on this box reckons with."""
    return stored_and_used()[1]
