"""One page: what it may fetch, several runs on it, and where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.report.page import build_report, write_report
from tests.unit.harness.report import iterations_run, rounds_run
from tests.unit.harness.report.iterations_run import summary, write_run
from tests.unit.harness.report.page import Page, page_of
from tests.unit.harness.report.rounds_run import write_rounds_run
from traces.errors import BadInputError


def test_the_page_fetches_nothing_and_holds_plotly_once(tmp_path: Path) -> None:
    text = build_report([write_run(tmp_path)] * 2)
    page = Page(text)
    assert [a for name, a in page.elements if name == "script" and "type" not in a] == [{}, {}]
    assert not [a for _, a in page.elements if "src" in a]
    targets = [a["href"] for _, a in page.elements if a.get("href")]
    assert all(target.startswith(("#", "data:")) for target in targets if target)
    [policy] = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert str(policy).startswith("default-src 'none'; script-src 'sha256-")
    identities = [a["id"] for _, a in page.elements if a.get("id")]
    assert len(identities) == len(set(identities))


def test_several_runs_stand_on_one_page(tmp_path: Path) -> None:
    first = write_run(tmp_path / "a")
    second = write_run(tmp_path / "b", summary(scenario="another"))
    page = page_of(first, second)
    assert page.count("article") == 2
    assert page.count("h1") == 2
    assert page.count("figure") == 2 * iterations_run.FIGURES


def test_both_kinds_of_runs_stand_on_one_page(tmp_path: Path) -> None:
    directories = [write_run(tmp_path / "links"), write_rounds_run(tmp_path / "rounds")]
    text = build_report([*directories, directories[1]])
    page = Page(text)
    assert page.count("article") == 3
    assert page.count("figure") == iterations_run.FIGURES + 2 * rounds_run.FIGURES
    scripts = [a for name, a in page.elements if name == "script" and "type" not in a]
    assert scripts == [{}, {}]
    identities = [a["id"] for _, a in page.elements if a.get("id")]
    assert len(identities) == len(set(identities))
    targets = [a["href"] for _, a in page.elements if a.get("href")]
    assert all(str(target).startswith(("#", "data:")) for target in targets)


def test_write_report_refuses_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run")
    write_report([directory], tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(BadInputError, match="cannot be written"):
        write_report([directory], tmp_path)
