"""The pages and documents of profiles: all that a reader must know is on both."""

from __future__ import annotations

import json

import pytest

from harness.report.page import page_of
from harness.report.profiles.sensitivity_article import sensitivity_article
from harness.report.profiles.sensitivity_document import sensitivity_document
from harness.report.profiles.stall_article import stall_article
from harness.report.profiles.stall_document import stall_document
from profiler.measuring.sensitivity_result import SensitivityResult
from profiler.measuring.stalls import StallResult
from tests.unit.harness.report.page import HOSTILE, Page
from tests.unit.harness.report.shown_profiles import GPU_UUID, rich_sensitivity, rich_stalls


def sensitivity_page(result: SensitivityResult) -> Page:
    article = sensitivity_article(result.sensitivity.model, result, "profile")
    return Page(page_of({"profile": article}))


def stalls_page(result: StallResult) -> Page:
    return Page(page_of({"stalls": stall_article(result, "stalls")}))


def test_a_sensitivity_has_its_figures_and_their_data() -> None:
    result = rich_sensitivity()
    page = sensitivity_page(result)
    assert len(page.figures) == 3
    assert set(page.data()) == {"profile_cpus.csv", "profile_stages.csv", "profile_matrix.csv"}
    speeds = page.data()["profile_matrix.csv"]
    assert len(speeds) == result.iteration_s.size
    for words in (
        "times as fast then as with 1",
        "2 empty",
        "CUDA out of memory",
        "he machine was steady: the first point",
    ):
        assert words in page.text


def test_stalls_have_their_figures_and_what_storage_gives() -> None:
    page = stalls_page(rich_stalls())
    assert set(page.data()) == {"stalls_more-cpus.csv", "stalls_cache.csv"}
    for words in ("limited by fetching from storage", "storage, 5 readers", "2 empty"):
        assert words in page.text


@pytest.mark.parametrize("share", [1.02, 0.4])
def test_a_doubt_about_storage_is_on_the_page_and_in_the_document(share: float) -> None:
    sensitivity = rich_sensitivity(from_storage_share=share)
    stalls = rich_stalls(from_storage_share=share)
    said = "only 40% of the bytes came from storage"
    for page in (sensitivity_page(sensitivity), stalls_page(stalls)):
        assert (said in page.text) is (share < 1)
    for document in (sensitivity_document(sensitivity), stall_document(stalls)):
        told = json.loads(json.dumps(document, allow_nan=False))
        assert any(said in note for note in told["notes"]) is (share < 1)
        doubts = [storage["doubt"] for storage in told["speeds"]["storage"]]
        assert len(doubts) == 3
        assert all((doubt is not None) is (share < 1) for doubt in doubts)


def test_the_gpu_is_named_by_its_uuid() -> None:
    sensitivity, stalls = rich_sensitivity(), rich_stalls()
    assert GPU_UUID in sensitivity.sensitivity.source
    for page in (sensitivity_page(sensitivity), stalls_page(stalls)):
        assert GPU_UUID in page.text
    for document in (sensitivity_document(sensitivity), stall_document(stalls)):
        assert document["gpu_uuid"] == GPU_UUID


def test_options_of_training_are_told() -> None:
    for page in (sensitivity_page(rich_sensitivity()), stalls_page(rich_stalls())):
        assert '"channels_last": true, "compile": true, "precision": "bf16"' in page.text


def test_a_hostile_name_is_shown_and_never_run() -> None:
    for page in (
        sensitivity_page(rich_sensitivity(HOSTILE)),
        stalls_page(rich_stalls(HOSTILE)),
    ):
        assert page.count("img") == 0
        assert HOSTILE in page.text
