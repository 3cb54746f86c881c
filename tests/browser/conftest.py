"""The browser, and a report of each kind of run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.fidelity.analysis import analyse
from harness.report.fidelity.article import article_of
from harness.report.page import page_of, write_page, write_report
from tests.unit.harness.report.iterations_run import write_run
from tests.unit.harness.report.rounds_run import write_both_sides, write_rounds_run
from tests.unit.harness.report.shown_traces import page_of_two, rich_trace
from tests.unit.harness.report.test_fidelity_report import rich_prediction, rich_reference

if TYPE_CHECKING:
    from tests.browser.reader import Reader


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Skips what needs a browser where there is none."""
    pytest.importorskip("selenium")
    from tests.browser.reader import BROWSER, DRIVER, Reader

    if not (BROWSER and DRIVER):
        pytest.skip("chromium and chromedriver are not installed")
    found = Reader(tmp_path_factory.mktemp("profile"), tmp_path_factory.mktemp("downloads"))
    yield found
    found.driver.quit()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By kind: of a run, of traces, and of a prediction against a reference."""
    place = tmp_path_factory.mktemp("reports")
    runs = {
        "iterations": write_run(place / "iterations"),
        "rounds": write_rounds_run(place / "rounds"),
        "emulated-rounds": write_both_sides(place / "emulated-rounds"),
    }
    files = {kind: place / f"{kind}.html" for kind in runs}
    for kind, directory in runs.items():
        write_report([directory], files[kind])
    files["traces"] = place / "traces.html"
    write_page(page_of_two(rich_trace(), rich_trace(200)), files["traces"])
    files["validation"] = place / "validation.html"
    compared = article_of(analyse(rich_reference(), rich_prediction()), "v")
    write_page(page_of({"v": compared}), files["validation"])
    return files
