"""One group for the processes of one job on one emulated server, with its limits."""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from emulator.cgroups import create_group, kill_group, remove_group
from emulator.limits.available import Place
from emulator.limits.settings import Setting, cpu_settings, cpuset_settings, memory_settings
from emulator.limits.usage import Usage, read_usage
from traces.errors import EmulationError, MissingCapabilityError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True)
class LimitedGroup:
    """places: the group's directory in each hierarchy. missing: limits that cannot be set, and why.

    A process is in the group when it has joined every directory of ``paths``. It is charged for
    the memory that it touches from then on.
    """

    places: tuple[Place, ...]
    missing: Mapping[str, str]

    @classmethod
    def create(
        cls, name: str, parents: Sequence[Place], missing: Mapping[str, str]
    ) -> LimitedGroup:
        """Make the group ``name`` in each of ``parents``, without limits of its own."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} cannot be the name of a group")
        places = tuple(replace(parent, path=parent.path / name) for parent in parents)
        for place in places:
            create_group(place.path)
        return cls(places, missing)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The directories that a process joins (``cgroups.join_group``), all of them."""
        return tuple(place.path for place in self.places)

    def set(
        self,
        cpu_cores: float | None = None,
        memory_bytes: int | None = None,
        cpus: frozenset[int] | None = None,
    ) -> None:
        """Put these limits in the place of those before, while processes run; None for no limit.

        cpu_cores: CPU time a second, of this box's cores. memory_bytes: without swap, rounded down
        to pages. cpus: numbers of the CPUs to run on.

        Raises EmulationError where the kernel refuses one or holds another value afterwards, and
        MissingCapabilityError where it has no such limit. Below the memory in use v1 refuses what
        it cannot reclaim; v2 takes it and ends processes of the group.
        """
        self._require(
            cpu=cpu_cores is not None, cpuset=cpus is not None, memory=memory_bytes is not None
        )
        place = self._place("cpu")
        if place is not None:
            _apply(place.path, cpu_settings(place.version, cpu_cores))
        place = self._place("cpuset")
        if place is not None:
            inherited = _effective_cpus(place.path.parent)
            _apply(place.path, cpuset_settings(place.version, cpus, inherited))
        place = self._place("memory")
        if place is not None:
            _apply(place.path, _memory_settings(place, memory_bytes))

    def usage(self) -> Usage:
        """What the processes of the group, also those that have ended, have used."""
        legacy = {
            name: place.path
            for place in self.places
            if place.version == 1
            for name in place.controllers
        }
        unified = next((place.path for place in self.places if place.version == 2), None)
        return read_usage(legacy, unified)

    def kill(self) -> None:
        """End every process of the group; the group and its counters stay."""
        for path in self.paths:
            kill_group(path)

    def remove(self) -> None:
        """End every process of the group and remove it. Gone already is fine."""
        for path in self.paths:
            remove_group(path)

    def _place(self, controller: str) -> Place | None:
        return next((place for place in self.places if controller in place.controllers), None)

    def _require(self, **wanted: bool) -> None:
        for controller, is_wanted in wanted.items():
            if is_wanted and self._place(controller) is None:
                raise MissingCapabilityError(
                    f"no limit of {controller!r} can be set here", remedy=self.missing[controller]
                )


def _memory_settings(place: Place, limit_bytes: int | None) -> tuple[Setting, ...]:
    if place.version == 2:
        has_swap_limit = (place.path / "memory.swap.max").exists()
        return memory_settings(2, limit_bytes, has_swap_limit=has_swap_limit)
    both = place.path / "memory.memsw.limit_in_bytes"
    if not both.exists():
        return memory_settings(1, limit_bytes, has_swap_limit=False)
    now_bytes = int(both.read_text())
    return memory_settings(1, limit_bytes, has_swap_limit=True, swap_limit_bytes=now_bytes)


def _effective_cpus(group: Path) -> str:
    for name in ("cpuset.cpus.effective", "cpuset.effective_cpus"):
        if (group / name).exists():
            return (group / name).read_text().strip()
    raise EmulationError(f"{group} does not tell its CPUs")


def _apply(group: Path, settings: Sequence[Setting]) -> None:
    """Write and read back. EmulationError where the kernel refuses or holds something else."""
    for setting in settings:
        file = group / setting.file
        try:
            file.write_text(setting.written)
            held = (group / setting.read_from).read_text().strip()
        except OSError as error:
            why = (
                "the group uses more, and it cannot be reclaimed"
                if error.errno == errno.EBUSY and setting.file.startswith("memory.")
                else error.strerror
            )
            raise EmulationError(f"{file} does not take {setting.written}: {why}") from None
        if held != setting.expected:
            raise EmulationError(
                f"{file} was set to {setting.expected}, but {setting.read_from} holds {held}"
            )
