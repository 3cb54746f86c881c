"""Which profile a job gets: measured before reconstructed, and never one of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import make_profile
from traces import job_profiles
from traces.errors import BadInputError
from traces.job_profiles import ProfileSources, read_measured_profiles
from traces.model_profile import ModelProfile, write_profile
from traces.models import RECONSTRUCTED


def measured(model: str = "vgg19", workers: int = 2, batch: int | None = 128) -> ModelProfile:
    return make_profile(model=model, workers=workers, batch_size=batch)


def sources(directory: Path, *profiles: ModelProfile) -> ProfileSources:
    for number, profile in enumerate(profiles):
        write_profile(profile, directory / f"{number}.json")
    return ProfileSources(directory, read_measured_profiles(directory))


def test_without_measured_ones_a_known_model_is_reconstructed(tmp_path: Path) -> None:
    found = ProfileSources(tmp_path).find("gpt1", 3, 40)
    assert found.profile == RECONSTRUCTED["gpt1"].profile(3, 40)
    assert found.warning is None


def test_a_measured_one_goes_before(tmp_path: Path) -> None:
    own = sources(tmp_path, measured(), measured(batch=64), measured(workers=4))
    found = own.find("vgg19", 2, 64)
    assert (found.profile, found.warning) == (measured(), None)


def test_without_a_batch_the_only_measured_one_is_meant(tmp_path: Path) -> None:
    assert sources(tmp_path, measured(batch=None)).find("vgg19", 2, None).profile.batch_size is None


def test_without_a_batch_none_of_several_is_picked(tmp_path: Path) -> None:
    several = sources(tmp_path, measured(batch=128), measured(batch=None), measured(batch=31))
    with pytest.raises(BadInputError, match="3 profiles of vgg19 with 2 workers") as caught:
        several.find("vgg19", 2, None)
    assert (caught.value.key, caught.value.allowed) == ("batch_per_gpu", "15.5, 64")


@pytest.mark.parametrize(("workers", "batch"), [(3, None), (2, 63), (3, 64)])
def test_a_reconstruction_in_place_of_a_measured_one_is_said(
    tmp_path: Path, workers: int, batch: int | None
) -> None:
    found = sources(tmp_path, measured()).find("vgg19", workers, batch)
    assert found.profile == RECONSTRUCTED["vgg19"].profile(workers, batch)
    assert found.warning == (
        f"no profile of vgg19 with {workers} workers and a batch of {workers * (batch or 64)} "
        "was measured; the reconstructed one is used"
    )


def test_a_model_may_be_known_by_measurement_alone(tmp_path: Path) -> None:
    llama = measured("llama", 4, 16)
    own = sources(tmp_path, llama)
    assert own.find("llama", 4, 4).profile == llama
    with pytest.raises(BadInputError, match="'llama' is neither") as caught:
        own.find("llama", 3, None)
    assert caught.value.key == "profile"
    assert ", gpt3, llama, resnet50, " in caught.value.allowed


def test_a_file_has_its_own_batch(tmp_path: Path) -> None:
    write_profile(measured(batch=128), tmp_path / "own.json")
    write_profile(measured(batch=None), tmp_path / "unknown.json")
    own = ProfileSources(tmp_path)
    assert own.find("own.json", 2, 64) == own.find("own.json", 2, None)
    for file, said in (("own.json", "128 in all"), ("unknown.json", "an unknown batch")):
        with pytest.raises(BadInputError, match=said) as caught:
            own.find(file, 2, 65)
        assert caught.value.key == "batch_per_gpu"


def test_two_profiles_of_the_same_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="a second profile of vgg19 with 2 workers") as caught:
        sources(tmp_path, measured(), measured(workers=4), measured())
    assert caught.value.file == tmp_path / "2.json"


def test_more_files_than_can_be_meant_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_profiles, "MAX_FILES", 1)
    with pytest.raises(BadInputError, match="has 2 files") as caught:
        sources(tmp_path, measured(), measured(workers=4))
    assert caught.value.key == "workload.measured_profiles"


def numbers(found: tuple[ModelProfile, ...]) -> list[int]:
    return [profile.num_gpus for profile in found]


def test_choices_have_the_same_batch_a_gpu_and_the_same_source(tmp_path: Path) -> None:
    own = sources(
        tmp_path,
        *(measured(workers=workers, batch=64 * workers) for workers in (8, 2, 4)),
        measured(workers=3, batch=31),
        measured(workers=2, batch=None),
    )
    found = own.find("vgg19", 2, 64).profile
    assert numbers(own.choices("vgg19", found, 8)) == [2, 4, 8]
    assert numbers(own.choices("vgg19", found, 7)) == [2, 4]
    reconstructed = own.find("vgg19", 3, 64).profile
    choices = own.choices("vgg19", reconstructed, 4)
    assert choices == tuple(RECONSTRUCTED["vgg19"].profile(count, 64) for count in range(1, 5))


def test_a_file_and_a_profile_of_an_unknown_batch_are_of_one_number(tmp_path: Path) -> None:
    own = sources(tmp_path, measured(batch=None), measured(workers=4, batch=None))
    assert own.choices("vgg19", measured(batch=None), 8) == (measured(batch=None),)
    write_profile(measured(), tmp_path / "own.json")
    (found,) = own.choices("own.json", own.find("own.json", 2, None).profile, 8)
    assert found == measured()
