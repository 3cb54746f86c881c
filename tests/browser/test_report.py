"""The report in a real browser, from a file, without a network."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.report.page import write_report
from tests.unit.harness.report.iterations_run import (
    arm,
    circle,
    event,
    marked_run,
    summary,
    write_run,
)
from tests.unit.harness.report.page import HOSTILE
from tests.unit.harness.report.rounds_run import (
    HOUR_S,
    job_rows,
    seed_document,
    write_rounds_run,
    write_table,
)
from tests.unit.harness.report.rounds_run import arm as rounds_arm
from tests.unit.harness.report.rounds_run import summary as rounds_summary
from traces.run_directory import read_json, write_json

pytest.importorskip("selenium")

from selenium.webdriver.common.keys import Keys

from tests.browser.every_page import check_downloads_are_reached, check_figures, check_opens_alone
from tests.browser.reader import DESKTOP, PHONE, SMALL_PHONE, Reader

FIGURES = {"iterations": 9, "rounds": 9, "emulated-rounds": 12, "traces": 8, "validation": 6}

every_kind = pytest.mark.parametrize("kind", FIGURES)


@pytest.fixture
def report(reports: dict[str, Path]) -> Path:
    return reports["iterations"]


@every_kind
def test_opens_from_a_file_without_errors_or_requests(
    reader: Reader, reports: dict[str, Path], kind: str
) -> None:
    check_opens_alone(reader, reports[kind])


@every_kind
def test_every_figure_is_drawn_inside_its_place_and_described(
    reader: Reader, reports: dict[str, Path], kind: str
) -> None:
    check_figures(reader, reports[kind], FIGURES[kind])


@every_kind
def test_the_keyboard_reaches_every_download(
    reader: Reader, reports: dict[str, Path], kind: str
) -> None:
    check_downloads_are_reached(reader, reports[kind], FIGURES[kind])


@every_kind
@pytest.mark.parametrize("width", [PHONE, SMALL_PHONE])
def test_nothing_is_wider_than_a_phone(
    reader: Reader, reports: dict[str, Path], kind: str, width: int
) -> None:
    reader.open(reports[kind], width)
    assert reader.overflows(width) == []


def test_the_table_has_a_row_for_each_arm(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    rows = reader.ask(
        """return [...document.querySelectorAll("#run1_arms + .scroll tbody tr")]
            .map((row) => row.innerText.replace(/\\s+/g, " "))"""
    )
    assert [row.split()[0] for row in rows] == ["dedicated", "together"]
    assert all("✓ valid" in row for row in rows)


def test_events_and_marks_are_drawn_on_any_screen(reader: Reader, tmp_path: Path) -> None:
    directory = marked_run(tmp_path / "run", {"one": 1, "two": 0})
    document = read_json(directory / "summary.json")
    document["arms"][0]["events"] = [event("rate", 0.5, 25e9), event("down", 3.5)]
    write_json(directory / "summary.json", document)
    write_report([directory], tmp_path / "report.html")
    for width in (DESKTOP, SMALL_PHONE):
        reader.open(tmp_path / "report.html", width)
        assert reader.errors() == []
        assert reader.overflows(width) == []
        drawn = reader.ask(
            """return [...document.querySelectorAll("#run1_link_together .annotation-text")]
                .map((label) => label.textContent)"""
        )
        assert [text for text in drawn if text in ("25\N{NO-BREAK SPACE}Gbit/s", "down")] == [
            *("25\N{NO-BREAK SPACE}Gbit/s",) * 2,  # above, for it is early, and in the whole run
            "down",
        ]
    rows = reader.ask(
        """return [...document.querySelectorAll("caption")]
            .filter((caption) => caption.textContent.startsWith("Marked packets"))
            .flatMap((caption) => [...caption.parentElement.querySelectorAll("tbody tr")])
            .map((row) => row.innerText.split(/\\s+/).slice(0, 5).join(" "))"""
    )
    assert rows == ["together left → right one"]


def test_what_has_no_spaces_is_broken_where_the_screen_ends(reader: Reader, tmp_path: Path) -> None:
    seeds = [seed_document(1, HOUR_S, source=f"jobs.csv, SHA-256 {'0123456789abcdef' * 4}")]
    directory = write_rounds_run(
        tmp_path / "run", rounds_summary(arms=[rounds_arm("proportional", HOUR_S, runs=seeds)])
    )
    write_report([directory], tmp_path / "report.html")
    reader.open(tmp_path / "report.html", SMALL_PHONE)
    assert reader.overflows(SMALL_PHONE) == []


def test_every_job_of_the_timeline_tells_what_it_is(
    reader: Reader, reports: dict[str, Path]
) -> None:
    reader.open(reports["rounds"], DESKTOP)
    reader.ask(
        """Plotly.Fx.hover(document.querySelector("#run1_gpu-timeline_tune .plot"),
            [{curveNumber: 0, pointNumber: 0}])"""
    )
    told = reader.ask(
        """return [...document.querySelectorAll("#run1_gpu-timeline_tune .hovertext")]
            .map((label) => label.textContent.replace(/\\s/g, " ")).join(" ")"""
    )
    assert "job job-0, alexnet: 8 GPUs and 3 CPUs for 50 h" in told


def test_several_runs_are_set_side_by_side_first(reader: Reader, tmp_path: Path) -> None:
    directories = [write_run(tmp_path / "links"), write_rounds_run(tmp_path / "rounds")]
    write_report(directories, tmp_path / "report.html")
    reader.open(tmp_path / "report.html", SMALL_PHONE)
    assert reader.overflows(SMALL_PHONE) == []
    rows = reader.ask(
        """return [...document.querySelectorAll("main > .scroll tbody tr")]
            .map((row) => [row.querySelector("a").hash, row.lastChild.textContent])"""
    )
    assert [anchor for anchor, _ in rows] == ["#run1", "#run2"]
    assert "times as long" in rows[0][1]
    assert "times as fast" in rows[1][1]


def test_csv_gives_the_data_of_the_figure(reader: Reader, report: Path) -> None:
    reader.open(report, DESKTOP)
    reader.ask("document.querySelector('#run1_link_together .downloads a').focus()")
    reader.press(Keys.ENTER)
    lines = reader.downloaded("run1_link_together.csv").splitlines()
    assert lines[0] == "t_s,rate_bps,arm,side,network,port,job"
    assert lines[1] == "0.02,2e+10,together,measured,n0,left->right,one"


@pytest.mark.parametrize("figure", ["circle-1-before", "heat-map_together"])
def test_svg_is_a_drawing(reader: Reader, report: Path, figure: str) -> None:
    reader.open(report, DESKTOP)
    reader.ask(f"document.querySelector('#run1_{figure} .downloads button').focus()")
    reader.press(Keys.ENTER)
    drawing = ElementTree.fromstring(reader.downloaded(f"run1_{figure}.svg"))  # noqa: S314
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert reader.errors() == []


def test_csv_of_rounds_holds_gpus_in_use(reader: Reader, reports: dict[str, Path]) -> None:
    reader.open(reports["rounds"], DESKTOP)
    reader.ask("document.querySelector('#run1_gpus-in-use .downloads a').focus()")
    reader.press(Keys.ENTER)
    lines = reader.downloaded("run1_gpus-in-use.csv").splitlines()
    assert lines[0] == "arm,seed,from_s,until_s,gpus_in_use"
    assert lines[1] == "proportional,1,0,300,8"


def test_pointing_at_a_job_tells_what_it_is(reader: Reader, reports: dict[str, Path]) -> None:
    reader.open(reports["emulated-rounds"], DESKTOP)
    reader.ask(
        """Plotly.Fx.hover(document.querySelector("#run1_job-by-job .plot"),
            [{curveNumber: 1, pointNumber: 0}])"""
    )
    told = reader.ask(
        """return [...document.querySelectorAll("#run1_job-by-job .hovertext")]
            .map((label) => label.textContent.replace(/\\s/g, " ")).join(" ")"""
    )
    for words in ("job job-0, seed 1, alexnet, −20.00 %", "1.25 h emulated", "proportional"):
        assert words in told


@pytest.mark.parametrize(
    ("figure", "header", "row"),
    [
        (
            "job-by-job",
            "arm,seed,job,model,emulated_s,simulated_s,error",
            "proportional,1,job-0,alexnet,4500,3600,-0.2",
        ),
        (
            "cpu-use",
            "arm,seed,job,server,from_s,until_s,cpus_enforced,cpus_used,cpu_demanded_s,length_s",
            "proportional,1,job-0,0,180000,360000,4,2,288000,180000",
        ),
        ("both-sides", "jct_s,share_at_or_below,arm,side", "4500,0.0125,proportional,emulated"),
    ],
)
def test_figures_of_an_emulation_are_there_to_take_away(
    reader: Reader, reports: dict[str, Path], figure: str, header: str, row: str
) -> None:
    reader.open(reports["emulated-rounds"], DESKTOP)
    for kind in ("a", "button"):
        reader.ask(f"document.querySelector('#run1_{figure} .downloads {kind}').focus()")
        reader.press(Keys.ENTER)
    assert reader.downloaded(f"run1_{figure}.csv").splitlines()[:2] == [header, row]
    drawing = ElementTree.fromstring(reader.downloaded(f"run1_{figure}.svg"))  # noqa: S314
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert reader.errors() == []


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
    assert reader.errors() == []
    assert reader.ask("return document.querySelectorAll('img[onerror], svg a').length") == 0
    assert reader.ask("return document.querySelectorAll('script').length") == 6 + 2
    assert reader.ask("return document.querySelector('.lead').textContent") == HOSTILE
    legend = reader.ask(
        "return [...document.querySelectorAll('.legendtext')].map((e) => e.textContent)"
    )
    assert {HOSTILE, link} <= set(legend)


def test_hostile_names_in_rounds_are_shown_and_never_run(reader: Reader, tmp_path: Path) -> None:
    directory = write_rounds_run(
        tmp_path / "run", rounds_summary(arms=[rounds_arm(HOSTILE, 3600.0, policy=HOSTILE)])
    )
    write_table(directory, "jobs", job_rows({HOSTILE: 1.0}))
    write_report([directory], tmp_path / "report.html")
    reader.open(tmp_path / "report.html", DESKTOP)
    assert reader.errors() == []
    assert reader.ask("return document.querySelectorAll('img').length") == 0
    assert HOSTILE in reader.ask("return document.querySelector('#run1_arms + .scroll').innerText")
