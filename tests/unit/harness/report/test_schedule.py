"""What a page says of runs whose jobs a scheduler placed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.report import words
from harness.report.iterations.documents import ArmRead
from harness.report.iterations.schedule import schedule
from tests.unit.harness.report.iterations_run import (
    JOBS,
    SHARED_S,
    arm,
    iteration_rows,
    job_rows,
    link_rows,
    outcome_of,
    summary,
    write_run,
)
from tests.unit.harness.report.page import page_of
from traces.run_directory import write_json, write_table


def side(one_s: float | None, two_s: float | None, **changes: Any) -> dict[str, Any]:
    return {
        "starts": 3,
        "decisions": 2,
        "candidates": 17,
        "discarded_by_loops": 4,
        "discarded_as_incomparable": 2,
        "without_shifts": 1,
        "completion_s": {"one": one_s, "two": two_s},
    } | changes


def scheduled(name: str = "together", **changes: Any) -> dict[str, Any]:
    values = {
        "schedule": {
            "placement": "themis",
            "round_s": 20.0,
            "measured": side(10.0, 30.0),
            "predicted": side(11.0, 33.0),
        }
    }
    return arm(name, SHARED_S, **(values | changes))


def words_of(*arms: dict[str, Any]) -> str:
    text = schedule([ArmRead.model_validate(each) for each in arms])
    return text.replace(words.SPACE, " ")


def test_the_page_has_a_schedule_and_no_circles(tmp_path: Path) -> None:
    directory = write_run(tmp_path, summary(arms=[scheduled(interleaver="cassini", score=0.95)]))
    write_json(directory / "circles.json", [])
    page = page_of(directory)
    for wanted in (
        "2 of 2 jobs",
        "20.00 s",
        "22.00 s",
        "+10.00 %",
        "no circle holds for a whole run",
        "it is the mean over the placements that the interleaver chose",
        "the link on which several send at once for longest",
        "links shared fairly among jobs, placed by themis, time-shifts by cassini",
    ):
        assert wanted in page.text
    assert "No link carries more than one job" not in page.text


def test_a_page_without_a_scheduler_has_none_of_it(tmp_path: Path) -> None:
    page = page_of(write_run(tmp_path))
    for unwanted in ("Completion times", "Where a scheduler", "placed"):
        assert unwanted not in page.text


def test_decisions_are_told_side_by_side() -> None:
    interleaved = words_of(scheduled(interleaver="cassini"))
    for count in ("17", "6"):
        assert interleaved.count(f">{count}<") == 2
    assert ">17<" not in words_of(scheduled())


def test_the_mean_is_of_jobs_that_ended_on_every_side() -> None:
    document = scheduled()
    document["schedule"]["measured"] = side(10.0, None)
    text = words_of(document)
    assert "1 of 2 jobs" in text
    # the second job, which only the prediction saw end, has no difference
    assert text.count("10.00 s") == 2
    assert text.count("33.00 s") == 1


def test_a_run_that_was_stopped_before_any_job_ended_has_no_mean() -> None:
    document = scheduled()
    document["schedule"] |= {"measured": side(None, None), "predicted": None}
    text = words_of(document)
    assert "0 of 2 jobs" in text
    assert "%" not in text


def test_random_placements_read_as_such() -> None:
    drawn = scheduled("drawn")
    drawn["schedule"] |= {"placement": "random"}
    text = outcome_of(arms=[drawn, arm("quick", 0.1)])
    assert "Arm drawn (links shared fairly among jobs, placed at random) makes it 3.00" in text


def test_jobs_have_no_shift_of_a_whole_run(tmp_path: Path) -> None:
    for document, shown in ((scheduled(), "–0"), (arm("together", SHARED_S), "none0")):
        directory = write_run(tmp_path, summary(arms=[document]))
        for half in ("emulated", "simulated"):
            write_table(directory / half, "jobs", job_rows("together", SHARED_S))
        text = page_of(directory).text
        assert text.count(f"300.0 ms{shown}") == len(JOBS)


def test_the_link_shown_is_the_one_where_jobs_meet(tmp_path: Path) -> None:
    """``busy`` has more load, but jobs pass it one by one."""
    directory = write_run(tmp_path, summary(arms=[scheduled()]))
    write_json(directory / "circles.json", [])
    rows = [
        row
        for row in link_rows("together", SHARED_S)
        if not row.port.startswith("busy") or (row.job == JOBS[0]) == (row.t_s < 2.0)
    ]
    for half in ("emulated", "simulated"):
        write_table(directory / half, "links", rows)
        write_table(directory / half, "iterations", iteration_rows("together", SHARED_S))
    text = page_of(directory).text
    assert "% of left → right" in text
    assert "% of busy → elsewhere" not in text
