"""The report in a real browser, from a file, without a network."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.report.page import write_report
from tests.unit.test_report import HOSTILE, arm, circle, summary, write_run
from traces.run_directory import write_json

webdriver = pytest.importorskip("selenium.webdriver")
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
Service = pytest.importorskip("selenium.webdriver.chrome.service").Service

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")

pytestmark = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="chromium and chromedriver are not installed"
)

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

FIGURES = 7
DESKTOP, PHONE, SMALL_PHONE = 1280, 390, 320


class Reader:
    """A person with a browser."""

    def __init__(self, profile: Path, downloads: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = BROWSER
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.downloads = downloads
        behaviour = {"behavior": "allow", "downloadPath": str(downloads)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)

    def open(self, file: Path, width: int) -> None:
        """Open ``file`` on a screen of this width and forget what was logged before."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(file.as_uri())

    def ask(self, script: str) -> Any:
        """What ``script`` returns in the page."""
        return self.driver.execute_script(script)

    def requests(self) -> list[str]:
        """Addresses that the page asked for since it was opened."""
        events = [
            json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")
        ]
        return [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def press(self, key: str) -> None:
        """Press ``key`` where the focus is."""
        webdriver.ActionChains(self.driver).send_keys(key).perform()

    def downloaded(self, name: str) -> str:
        """The text of a file that the browser was told to download."""
        file = self.downloads / name
        deadline = time.monotonic() + 20
        while not file.is_file() and time.monotonic() < deadline:
            time.sleep(0.1)
        return file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    found = Reader(tmp_path_factory.mktemp("profile"), tmp_path_factory.mktemp("downloads"))
    yield found
    found.driver.quit()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    write_report([write_run(tmp_path_factory.mktemp("run"))], file)
    return file


def test_opens_from_a_file_without_errors_or_requests(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    assert reader.driver.get_log("browser") == []
    outside = [url for url in reader.requests() if not url.startswith(("data:", "blob:"))]
    assert outside == [report.as_uri()]


def test_every_figure_is_drawn_and_described(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    figures = reader.ask(
        """return [...document.querySelectorAll("figure")].map((figure) => ({
            height: figure.querySelector("svg.main-svg").getBoundingClientRect().height,
            shapes: figure.querySelectorAll(".plot svg path").length,
            label: document.getElementById(figure.getAttribute("aria-labelledby")).textContent,
            caption: figure.querySelector("figcaption p").textContent,
        }))"""
    )
    assert len(figures) == FIGURES
    for figure in figures:
        assert figure["height"] > 200
        assert figure["shapes"] > 5
        assert figure["label"]
        assert figure["caption"].endswith(".")


def test_the_table_has_a_row_for_each_arm(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    rows = reader.ask(
        """return [...document.querySelectorAll("#run1_arms + .scroll tbody tr")]
            .map((row) => row.innerText.replace(/\\s+/g, " "))"""
    )
    assert [row.split()[0] for row in rows] == ["dedicated", "together"]
    assert all("✓ valid" in row for row in rows)


def test_the_keyboard_reaches_every_download(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    reached: list[str] = []
    for _ in range(120):
        reader.press(Keys.TAB)
        focus = "const e = document.activeElement; return e.closest('.downloads') && e.ariaLabel"
        label = reader.ask(focus)
        if label and label not in reached:
            reached.append(label)
        if len(reached) == 2 * FIGURES:
            break
    wanted = "return [...document.querySelectorAll('.downloads > *')].map((e) => e.ariaLabel)"
    assert reached == reader.ask(wanted)


def test_csv_gives_the_data_of_the_figure(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    reader.ask("document.querySelector('#run1_link_together .downloads a').focus()")
    reader.press(Keys.ENTER)
    lines = reader.downloaded("run1_link_together.csv").splitlines()
    assert lines[0] == "t_s,rate_bps,arm,side,network,port,job"
    assert lines[1] == "0.02,2e+10,together,measured,n0,left->right,one"


def test_svg_is_a_drawing(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    reader.ask("document.querySelector('#run1_circle-1-before .downloads button').focus()")
    reader.press(Keys.ENTER)
    drawing = ElementTree.fromstring(reader.downloaded("run1_circle-1-before.svg"))  # noqa: S314
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert reader.driver.get_log("browser") == []


@pytest.mark.parametrize("width", [DESKTOP, PHONE, SMALL_PHONE])
def test_nothing_is_wider_than_the_screen(reader: Reader, report: Path, width: int) -> None:
    reader.open(report, width)
    assert reader.ask("return document.documentElement.scrollWidth") <= width
    plots = reader.ask(
        """return [...document.querySelectorAll(".plot")]
            .map((plot) => [plot.clientWidth, plot.querySelector("svg").clientWidth])"""
    )
    assert all(0 < drawn <= room for room, drawn in plots)


def test_printing_unfolds_what_is_folded_and_folds_it_again(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    reader.ask(
        """window.seen = null;
        addEventListener("beforeprint", () => {
            window.seen = document.querySelectorAll("details:not([open])").length;
        });"""
    )
    widths = "return [...document.querySelectorAll('.plot svg')].map((svg) => svg.clientWidth)"
    folded = "return document.querySelectorAll('details:not([open])').length"
    before = reader.ask(folded), reader.ask(widths)
    reader.driver.execute_cdp_cmd("Page.printToPDF", {})
    assert reader.ask("return window.seen") == 0
    assert (reader.ask(folded), reader.ask(widths)) == before
    assert before[0] > 0


def test_hostile_names_are_shown_and_never_run(reader: Reader, tmp_path: Path) -> None:
    document = summary(description=HOSTILE, arms=[arm("together", 0.3)])
    document["jobs"][0] |= {"job": HOSTILE, "source": HOSTILE}
    directory = write_run(tmp_path / "run", document)
    link = "<a href='https://example.org'>two</a>"
    write_json(directory / "circles.json", [circle(jobs=[HOSTILE, link], ports=[HOSTILE])])
    write_report([directory], tmp_path / "report.html")
    reader.open(tmp_path / "report.html", DESKTOP)
    assert reader.driver.get_log("browser") == []
    assert reader.ask("return document.querySelectorAll('img[onerror], svg a').length") == 0
    assert reader.ask("return document.querySelectorAll('script').length") == 5 + 2
    assert reader.ask("return document.querySelector('.lead').textContent") == HOSTILE
    legend = reader.ask(
        "return [...document.querySelectorAll('.legendtext')].map((e) => e.textContent)"
    )
    assert {HOSTILE, link} <= set(legend)
