"""Sensitivities of tiny models that really train on the processors of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from profiler.limits.point_limits import limits_for_training
from profiler.limits.usable import usable_cpus
from profiler.measuring.notes import disturbed_points
from profiler.measuring.sensitivity import SensitivityPlan, profile_sensitivity
from profiler.measuring.sensitivity_result import SensitivityResult
from profiler.measuring.training import Patience, made_items_for
from profiler.models.builtin import builtin_model
from profiler.training.job_items import stored_items
from profiler.training.job_specification import JobSpecification

_IMAGES = 320
_CPUS = (1.0, 1.25, 1.5, 1.75, 2.0)
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_TRIES = 3

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
    """One of a machine that was the same from beginning to end, and did nothing else."""
    batch_size = builtin_model(model, tiny=True).batch_size
    job = JobSpecification(
        model=model,
        tiny=True,
        device="cpu",
        made_directory=str(directory / "items"),
        data=None if data is None else str(data),
        made_items=made_items_for(batch_size),
    )
    plan = SensitivityPlan(job, model, _CPUS, Patience(3, 120), _SHARES, is_full)
    for attempt in range(_TRIES):
        place = directory / f"{model}-{is_full}-{attempt}"
        place.mkdir()
        result, _ = profile_sensitivity(
            plan, stored_items(job), place, lambda *_: None, lambda: False
        )
        has_drifted = result.drift is None or result.drift.verdict == "drifted"
        if not has_drifted and not disturbed_points(result.found.points):
            return result
    pytest.fail(
        f"the machine drifted, or was in use, each time: {result.drift}, {result.found.notes}"
    )


def test_an_image_model_wants_cpus_and_few_points_give_its_matrix(
    tmp_path: Path, images: Path
) -> None:
    optimistic = profile(tmp_path, "res18", images)
    whole = profile(tmp_path, "res18", images, is_full=True)
    measured_s = whole.iteration_s
    assert measured_s[0, -1] / measured_s[-1, -1] > 1.5
    assert optimistic.found.model.curve.knee_cpus > 1.5
    errors = np.abs(measured_s / optimistic.modelled_s - 1)
    assert np.median(errors) < 0.05, errors
    assert errors.max() < 0.10, errors
    assert optimistic.cost.optimistic_s <= whole.cost.grid_s / 5
    assert not whole.cost.is_estimated
    assert optimistic.found.ready.skipped == {"empty": 1, "not an image": 1}
    assert optimistic.unenforced == ()
    cold = [p for p in whole.found.points if p.allocation.cache_bytes == 0]
    assert all(p.hits == 0 and p.misses > 0 for p in cold)
    full = [
        p for p in whole.found.points if p.allocation.cache_bytes == whole.found.grid.full_bytes
    ]
    assert all(p.misses == 0 and p.hits > 0 for p in full)


def test_a_language_model_does_not(tmp_path: Path) -> None:
    result = profile(tmp_path, "lstm", None)
    assert result.found.model.curve.knee_cpus < 1.5
    assert result.sensitivity.throughput.min() > 0.9
