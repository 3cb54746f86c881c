"""Sensitivities of tiny models that really train on the processors of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from profiler.limits.point_limits import limits_for_training
from profiler.limits.usable import usable_cpus
from profiler.measuring.sensitivity import SensitivityPlan, profile_sensitivity
from profiler.measuring.sensitivity_result import SensitivityResult
from profiler.measuring.training import Patience, made_items_for
from profiler.models.builtin import builtin_model
from profiler.training.job_items import stored_items
from profiler.training.job_specification import JobSpecification

_IMAGES = 320
_CPUS = (1.0, 1.25, 1.5, 1.75, 2.0)
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_BUDGET_S = 3
# What the second CPU makes of the speed of a model that wants it. Noise of a busy machine makes
# points of a few seconds differ by a sixth, so that nothing finer is asked of either model.
_WANTED_GAIN = 1.5

pytestmark = [
    pytest.mark.undisturbed,
    pytest.mark.skipif(usable_cpus() < _CPUS[-1], reason="needs two processors"),
    pytest.mark.skipif(
        "cpu" in limits_for_training().missing, reason="parts of a CPU need a cgroup: root"
    ),
]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """JPEG files in directories of their classes, and other files among them."""
    directory = tmp_path_factory.mktemp("images")
    sample_format = builtin_model("res18", tiny=True).sample_format
    for number in range(_IMAGES):
        file = directory / f"class{number % 10}" / f"{number}.jpg"
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(sample_format.made_item(0, np.random.default_rng(number)))
    (directory / "class0" / "empty.jpg").write_bytes(b"")
    (directory / "class0" / "notes.txt").write_text("no image")
    os.sync()  # what is still to be written cannot be dropped from the page cache
    return directory


def profile(
    directory: Path, model: str, data: Path | None, *, is_full: bool = False
) -> SensitivityResult:
    batch_size = builtin_model(model, tiny=True).batch_size
    job = JobSpecification(
        model=model,
        tiny=True,
        device="cpu",
        made_directory=str(directory / "items"),
        data=None if data is None else str(data),
        made_items=made_items_for(batch_size),
    )
    plan = SensitivityPlan(job, model, _CPUS, Patience(_BUDGET_S, 120), _SHARES, is_full)
    place = directory / f"{model}-{is_full}"
    place.mkdir()
    result, _ = profile_sensitivity(plan, stored_items(job), place, lambda *_: None, lambda: False)
    return result


def test_an_image_model_wants_cpus(tmp_path: Path, images: Path) -> None:
    result = profile(tmp_path, "res18", images)
    curve = result.found.model.curve
    assert curve.iteration_s[0] / curve.iteration_s[-1] > _WANTED_GAIN
    assert curve.knee_cpus > 1.5
    assert result.modelled_s.shape == (len(_CPUS), len(_SHARES))
    assert result.cost.optimistic_s <= result.cost.grid_s / 5
    assert result.found.ready.skipped == {"empty": 1, "not an image": 1}
    assert result.unenforced == ()
    full = [
        point
        for point in result.found.points
        if point.allocation.cache_bytes == result.found.grid.full_bytes
    ]
    assert all(point.misses == 0 and point.hits > 0 for point in full)


def test_a_language_model_does_not(tmp_path: Path) -> None:
    result = profile(tmp_path, "lstm", None)
    assert 1 / result.sensitivity.throughput.min() < _WANTED_GAIN
