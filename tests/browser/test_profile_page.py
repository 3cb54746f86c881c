"""The pages of profiles in a real browser, from a file, without a network."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.report.page import page_of, write_page
from harness.report.profiles.sensitivity_article import sensitivity_article
from harness.report.profiles.stall_article import stall_article
from tests.unit.harness.report.page import HOSTILE
from tests.unit.harness.report.shown_profiles import rich_sensitivity, rich_stalls

pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys

from tests.browser.every_page import check_downloads_are_reached, check_figures, check_opens_alone
from tests.browser.reader import DESKTOP, PHONE, SMALL_PHONE, Reader

FIGURES = {"sensitivity": 3, "stalls": 2}

every_kind = pytest.mark.parametrize("kind", FIGURES)


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By kind; each with a doubt about storage, which is the longest line that a page may have."""
    place = tmp_path_factory.mktemp("profiles")
    articles = {
        "sensitivity": sensitivity_article("res50", rich_sensitivity(from_storage_share=0.4), "p"),
        "stalls": stall_article(rich_stalls(from_storage_share=0.4), "p"),
    }
    files = {kind: place / f"{kind}.html" for kind in articles}
    for kind, article in articles.items():
        write_page(page_of({"p": article}), files[kind])
    return files


@every_kind
def test_opens_from_a_file_without_errors_or_requests(
    reader: Reader, profiles: dict[str, Path], kind: str
) -> None:
    check_opens_alone(reader, profiles[kind])
    warnings = reader.ask(
        "return [...document.querySelectorAll('.warning')].map((p) => p.textContent)"
    )
    assert any("The speed of storage is in doubt" in text for text in warnings)


@every_kind
def test_every_figure_is_drawn_inside_its_place_and_described(
    reader: Reader, profiles: dict[str, Path], kind: str
) -> None:
    check_figures(reader, profiles[kind], FIGURES[kind])


@every_kind
def test_the_keyboard_reaches_every_download(
    reader: Reader, profiles: dict[str, Path], kind: str
) -> None:
    check_downloads_are_reached(reader, profiles[kind], FIGURES[kind])


@every_kind
@pytest.mark.parametrize("width", [PHONE, SMALL_PHONE])
def test_nothing_is_wider_than_a_phone(
    reader: Reader, profiles: dict[str, Path], kind: str, width: int
) -> None:
    reader.open(profiles[kind], width)
    assert reader.overflows(width) == []


@pytest.mark.parametrize(
    ("kind", "figure", "header"),
    [
        ("sensitivity", "cpus", "cpus,iteration_s,samples_per_s,measured,uncertain"),
        ("sensitivity", "stages", "cpus,wait_s,copy_s,compute_s"),
        ("sensitivity", "matrix", "cpus,cache_bytes,iteration_s,modelled_s,throughput,measured"),
        (
            "stalls",
            "more-cpus",
            "CPUs,training,ingestion by the device,preparation by CPUs,fetching",
        ),
    ],
)
def test_figures_are_there_to_take_away(
    reader: Reader, profiles: dict[str, Path], kind: str, figure: str, header: str
) -> None:
    reader.open(profiles[kind], DESKTOP)
    for button in ("a", "button"):
        reader.ask(f"document.querySelector('#p_{figure} .downloads {button}').focus()")
        reader.press(Keys.ENTER)
    assert reader.downloaded(f"p_{figure}.csv").splitlines()[0] == header
    drawing = ElementTree.fromstring(reader.downloaded(f"p_{figure}.svg"))  # noqa: S314
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert reader.errors() == []


def test_a_hostile_name_is_shown_and_never_run(reader: Reader, tmp_path: Path) -> None:
    article = sensitivity_article(HOSTILE, rich_sensitivity(HOSTILE), "p")
    write_page(page_of({"p": article}), tmp_path / "report.html")
    reader.open(tmp_path / "report.html", SMALL_PHONE)
    assert reader.errors() == []
    assert reader.ask("return document.querySelectorAll('img').length") == 0
    assert HOSTILE in reader.ask("return document.querySelector('#p').innerText")
    assert reader.overflows(SMALL_PHONE) == []
