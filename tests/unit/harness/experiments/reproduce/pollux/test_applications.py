"""Measured applications: between what was measured, and beyond it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.experiments.reproduce.pollux.applications import Application
from harness.scheduling.pollux.goodput import BatchLimits, GradientNoise
from tests.unit.harness.experiments.reproduce.pollux.toy import times_s, write_toy
from traces.errors import BadInputError


@pytest.fixture
def toy(tmp_path: Path) -> Application:
    return Application(write_toy(tmp_path / "toy"))


def test_its_limits_and_epochs(toy: Application) -> None:
    """The training that ends an epoch with the least progress says when it ends."""
    assert toy.limits == BatchLimits(initial=16, largest=256, gpu_least=4, gpu_most=64)
    assert toy.epochs == 2
    assert [toy.progress_after(epochs) for epochs in (1, 2)] == [100, 200]


def test_a_gpu_may_hold_less_than_was_measured(tmp_path: Path) -> None:
    assert Application(write_toy(tmp_path / "toy"), gpu_most=16).limits.gpu_most == 16


def test_times_of_a_measured_placement_are_between_batches(toy: Application) -> None:
    assert toy.times_s((2, 3), 16) == pytest.approx(times_s(2, 5, 16))
    assert toy.times_s((2, 3), 10) == pytest.approx(times_s(2, 5, 10))


def test_a_ring_may_be_turned(toy: Application, tmp_path: Path) -> None:
    file = toy.folder / "placements.csv"
    file.write_text(file.read_text().replace("12,16,0.46", "12,16,0.5"), encoding="utf-8")
    turned = Application(toy.folder)
    assert turned.times_s((2, 1), 16) == turned.times_s((1, 2), 16) == pytest.approx((0.5, 0.2))


def test_times_of_other_placements_are_between_servers_gpus_and_batches(toy: Application) -> None:
    """Above two servers they are all alike."""
    assert toy.times_s((4, 4, 4, 4, 4, 4, 4), 16) == pytest.approx(times_s(7, 28, 16))
    assert toy.times_s((3, 2, 3, 2, 3, 2, 3), 10) == pytest.approx(times_s(7, 18, 10))


@pytest.mark.parametrize(("placement", "per_gpu"), [((1,), 3), ((1, 1), 65), ((4,) * 17, 16)])
def test_what_was_not_measured_is_refused(
    placement: tuple[int, ...], per_gpu: int, toy: Application
) -> None:
    with pytest.raises(BadInputError, match="nothing was measured near"):
        toy.times_s(placement, per_gpu)


def test_gradients_are_between_the_batches_of_trainings(toy: Application) -> None:
    file = toy.folder / "validation-64.csv"
    file.write_text(file.read_text().replace("1.0,4.0", "3.0,8.0"), encoding="utf-8")
    changed = Application(toy.folder)
    assert changed.noise(16, 0) == GradientNoise(1, 4)
    assert changed.noise(64, 1) == GradientNoise(3, 8)
    assert changed.noise(28, 0) == pytest.approx(GradientNoise(1.5, 5))
    assert changed.noise(256, 0) == GradientNoise(1, 4)
    for batch in (15, 257):
        with pytest.raises(BadInputError, match=f"at a batch of {batch}"):
            changed.noise(batch, 0)


def test_a_folder_without_trainings_is_refused(toy: Application) -> None:
    for file in toy.folder.glob("validation-*"):
        file.unlink()
    with pytest.raises(BadInputError, match="no training"):
        Application(toy.folder)
