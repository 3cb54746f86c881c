"""Which profile a job gets: a measured one of its model, a reconstruction, or a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from traces.errors import BadInputError
from traces.model_profile import ModelProfile, read_profile
from traces.models import RECONSTRUCTED

MAX_FILES = 1000

MeasuredProfiles = Mapping[tuple[str, int], list[ModelProfile]]
"""Profiles by (model, number of workers); those of one key differ in their batch."""


@dataclass(frozen=True)
class FoundProfile:
    """A job's profile. warning: that none was measured, where measured ones were asked for."""

    profile: ModelProfile
    warning: str | None = None


@dataclass(frozen=True)
class ProfileSources:
    """Where the jobs of a scenario find their profiles.

    beside: the directory of the scenario, where files of profiles lie.
    measured: profiles that go before the reconstructions of the same models.
    """

    beside: Path
    measured: MeasuredProfiles = field(default_factory=dict)

    def find(self, name: str, num_workers: int, batch_per_gpu: int | None) -> FoundProfile:
        """The profile of ``name``, a model or a file.

        Raises BadInputError with the key of a job (``profile``, ``servers``, ``batch_per_gpu``)
        where the job asks for what there is not, and with a file where that is damaged.
        """
        measured = self._measured(name, num_workers, batch_per_gpu)
        if measured is not None:
            return FoundProfile(measured)
        if name not in RECONSTRUCTED:
            return FoundProfile(self._file(name, num_workers, batch_per_gpu))
        try:
            profile = RECONSTRUCTED[name].profile(num_workers, batch_per_gpu)
        except BadInputError as error:
            key = "servers" if error.key == "num_workers" else error.key
            raise BadInputError(error.problem, allowed=error.allowed, key=key) from None
        if not self.measured:
            return FoundProfile(profile)
        return FoundProfile(
            profile,
            f"no profile of {name} with {num_workers} workers and a batch of "
            f"{profile.batch_size} was measured; the reconstructed one is used",
        )

    def choices(
        self, name: str, profile: ModelProfile, most_workers: int
    ) -> tuple[ModelProfile, ...]:
        """``profile``, which ``name`` was found to be, with up to ``most_workers`` workers.

        The profiles with as large a batch on each GPU and from the same source, by ascending
        number of workers: other measured ones of a measured one, reconstructions of a
        reconstructed one. A file is of one number alone.
        """
        batch = profile.batch_size
        if batch is None:
            return (profile,)
        if profile in self.measured.get((name, profile.num_gpus), []):
            return tuple(
                each
                for num_workers in range(1, most_workers + 1)
                for each in self.measured.get((name, num_workers), [])
                if each.batch_size == batch * num_workers / profile.num_gpus
            )
        if name not in RECONSTRUCTED:
            return (profile,)
        return tuple(
            RECONSTRUCTED[name].profile(num_workers, batch // profile.num_gpus)
            for num_workers in RECONSTRUCTED[name].workers
            if num_workers <= most_workers
        )

    def _measured(
        self, name: str, num_workers: int, batch_per_gpu: int | None
    ) -> ModelProfile | None:
        """The measured one of this model, workers and batch; without a batch the only one."""
        profiles = self.measured.get((name, num_workers), [])
        if batch_per_gpu is not None:
            batch = batch_per_gpu * num_workers
            profiles = [profile for profile in profiles if profile.batch_size == batch]
        if len(profiles) > 1:
            batches = [profile.batch_size for profile in profiles if profile.batch_size is not None]
            raise BadInputError(
                f"{len(profiles)} profiles of {name} with {num_workers} workers were measured",
                allowed=", ".join(f"{batch / num_workers:g}" for batch in sorted(batches)),
                key="batch_per_gpu",
            )
        return profiles[0] if profiles else None

    def _file(self, name: str, num_workers: int, batch_per_gpu: int | None) -> ModelProfile:
        file = self.beside / name
        if not file.is_file():
            models = sorted({model for model, _ in self.measured} | set(RECONSTRUCTED))
            raise BadInputError(
                f"{name!r} is neither a known model nor a file beside the scenario",
                allowed=f"{', '.join(models)}, or the path of a profile",
                key="profile",
            )
        profile = read_profile(file)
        if profile.num_gpus != num_workers:
            raise BadInputError(
                f"{num_workers} servers for a profile of {profile.num_gpus} workers",
                allowed=f"{profile.num_gpus} servers",
                key="servers",
            )
        if batch_per_gpu is not None and profile.batch_size != batch_per_gpu * num_workers:
            known = profile.batch_size
            raise BadInputError(
                f"the profile is of {'an unknown batch' if known is None else f'{known} in all'}",
                allowed="a batch for a known model; a file has its own",
                key="batch_per_gpu",
            )
        return profile


def read_measured_profiles(directory: Path) -> MeasuredProfiles:
    """Every ``*.json`` of ``directory``.

    Raises BadInputError with the scenario's key where it is no directory with profiles, and with a
    file where that is not a profile, or the second of the same model, workers and batch.
    """
    files = sorted(directory.glob("*.json"))
    if not 0 < len(files) <= MAX_FILES:
        raise BadInputError(
            f"{directory.name!r} beside the scenario has {len(files)} files *.json",
            allowed=f"a directory with 1 to {MAX_FILES} profiles",
            key="workload.measured_profiles",
        )
    found: dict[tuple[str, int], list[ModelProfile]] = {}
    for file in files:
        profile = read_profile(file)
        same_key = found.setdefault((profile.model, profile.num_gpus), [])
        if any(profile.batch_size == other.batch_size for other in same_key):
            raise BadInputError(
                f"a second profile of {profile.model} with {profile.num_gpus} workers and the "
                "same batch",
                allowed="one profile of each",
                file=file,
            )
        same_key.append(profile)
    return found
