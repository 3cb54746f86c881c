"""A specification goes through JSON unchanged."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from emulator.training.specification import (
    EpochPosition,
    LoaderSpecification,
    Pipeline,
    PipelineShare,
    PipelineState,
    StorageRoute,
    loader_specification_of,
)


@pytest.mark.parametrize(
    "route", [None, StorageRoute("10.0.0.1", "10.0.0.2", 5000, 3, 32768, "cubic")]
)
def test_a_specification_goes_through_json(route: StorageRoute | None) -> None:
    specification = LoaderSpecification(
        namespace=None,
        route=route,
        pipeline=Pipeline(items=4, item_bytes=10, dataset_items=9, cpu_s_per_item=0.5),
        share=PipelineShare(cache_bytes=50, threads=2),
        state=PipelineState(EpochPosition(2, 5), (3, 1), 1),
        shuffle_seed=11,
        work="jpeg",
    )
    message = json.loads(json.dumps(asdict(specification)))
    assert loader_specification_of(message) == specification
