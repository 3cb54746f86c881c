"""The report: its sentences, its escaping, and what it does where parts of a run are missing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from harness.report import html, thinning, words
from harness.report.iterations import sentences
from harness.report.iterations.documents import CpuScaleRead, Summary
from harness.report.page import build_report, write_report
from harness.report.words import SPACE
from tests.unit.harness.report.page import Page, page_of
from traces.errors import BadInputError
from traces.results import IterationRow, JobRow, LinkRow
from traces.run_directory import write_json, write_table

JOBS = ("one", "two")
ALONE_S, SHARED_S = 0.2, 0.3
WARM_UP, COUNTED = 1, 12
PORT = "left->right"
FIGURES = 9
"""Of a run with two circles and two arms."""


def times(mean: float) -> dict[str, Any]:
    return {"iteration_s": {"mean": mean, "p50": mean, "p99": mean}}


def arm(name: str, mean: float, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "sharing": "fair",
        "dedicated": False,
        "interleaver": "none",
        "measured": times(mean),
        "predicted": times(mean * 1.01),
        "difference": {"mean": 0.01, "p50": 0.01, "p99": 0.01},
        "time_shifts_s": dict.fromkeys(JOBS, 0.0),
        "score": 0.6,
        "verdict": {"status": "valid", "invariants": [invariant()]},
        "scale": {
            "rate_divisor": 380.0,
            "reason": "1000 packets in the smallest transfer",
            "load_hop_bps": 1.5e9,
            "budget_hop_bps": 4e9,
            "smallest_transfer_packets": 999.0,
            "warnings": [],
        },
    } | changes


def invariant(**changes: Any) -> dict[str, Any]:
    return {
        "name": "steal",
        "ok": True,
        "value": 0.001,
        "limit": 0.02,
        "explanation": "share of CPU time that the hypervisor gave to others",
        "bound": "at most",
        "unit": "share",
        "on_failure": "suspect",
    } | changes


def summary(**changes: Any) -> dict[str, Any]:
    return {
        "scenario": "two-jobs",
        "description": "Two jobs on one link.",
        "seed": 7,
        "interrupted": False,
        "jobs": [
            {"job": job, "model": "vgg19", "provenance": "reconstructed", "source": "a paper"}
            for job in JOBS
        ],
        "arms": [
            arm("dedicated", ALONE_S, dedicated=True, score=1.0),
            arm("together", SHARED_S),
        ],
    } | changes


def circle(**changes: Any) -> dict[str, Any]:
    demand = [(36, 0.0), (36, 50e9)]
    return {
        "jobs": list(JOBS),
        "ports": [PORT],
        "capacity_bps": 50e9,
        "perimeter_s": ALONE_S,
        "repeats": [1, 1],
        "demand": [demand, demand],
        "applied_shifts_s": {"together": [0.0, 0.0]},
        "best_shifts_s": [0.0, ALONE_S / 2],
        "best_score": 1.0,
    } | changes


def iteration_rows(name: str, length_s: float) -> list[IterationRow]:
    return [
        IterationRow(
            name,
            job,
            i,
            i >= WARM_UP,
            i * length_s,
            (i + 0.5) * length_s,
            (i + 1) * length_s,
            length_s,
        )
        for job in JOBS
        for i in range(WARM_UP + COUNTED)
    ]


def link_rows(name: str, length_s: float, *, told_apart: bool = True) -> list[LinkRow]:
    return [
        LinkRow(name, "n0", port, job, round(t_s, 3), rate_bps, 50e9, 0.0, 0)
        for port, rate_bps in ((PORT, 20e9), ("busy->elsewhere", 40e9))
        for job in (JOBS if told_apart else (None,))
        for t_s in np.arange(0.02, length_s * (WARM_UP + COUNTED), 0.02)
    ]


def job_rows(name: str, length_s: float) -> list[JobRow]:
    return [JobRow(name, job, "vgg19", 2, COUNTED, *[length_s] * 3, 0.0, 0) for job in JOBS]


ARMS = (("dedicated", ALONE_S), ("together", SHARED_S))


def write_side(directory: Path, arms: Any = ARMS, *, run_id: str | None = None) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    for name, rows_of in (("iterations", iteration_rows), ("links", link_rows), ("jobs", job_rows)):
        rows: list[Any] = [row for arm_name, length in arms for row in rows_of(arm_name, length)]
        write_table(directory, name, rows)
    (directory / "scenario.yaml").write_text("name: two-jobs\n", encoding="utf-8")
    write_json(
        directory / "provenance.json",
        {
            "finished_utc": "2026-01-02T03:04:05+00:00",
            "run_id": run_id,
            "seed": 7,
            "scenario_sha256": "ab" * 32,
            "versions": {"roundelay": "0.1.0", "iproute2": None},
            "machine": {"kernel": "6.1.0", "cpu": "A CPU", "cores": 2, "memory_bytes": 2**34},
        },
    )
    return directory


def write_run(directory: Path, document: dict[str, Any] | None = None) -> Path:
    """A directory as ``roundelay run`` leaves it."""
    write_side(directory / "simulated")
    write_side(directory / "emulated", run_id="00c0ffee")
    write_json(directory / "summary.json", document or summary())
    write_json(directory / "circles.json", [circle()])
    return directory


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.2305, "230.5 ms"), (1.5, "1.500 s"), (2e-5, "20.00 µs"), (0.0, "0 s"), (float("nan"), "–")],
)
def test_seconds_choose_their_unit(value: float, expected: str) -> None:
    assert words.seconds(value).replace(words.SPACE, " ") == expected


@pytest.mark.parametrize("share", [0.00819, -0.0299, 0.2, 1e-7, 0.011, 0.1])
def test_within_never_promises_more_than_is_true(share: float) -> None:
    bound = float(words.within(share).split()[1]) / 100
    assert abs(share) <= bound + 1e-12
    assert bound <= max(abs(share) * 1.11, 1e-4)


def test_lists_read_as_english_and_count_what_they_leave_out() -> None:
    assert words.listed([]) == ""
    assert words.listed(["a"]) == "a"
    assert words.listed(["a", "b", "c"]) == "a, b and c"
    assert words.listed(list("abcdef"), at_most=4) == "a, b, c and 3 more"


def outcome_of(**changes: Any) -> str:
    document = Summary.model_validate(summary(**changes))
    return sentences.outcome(document).replace(words.SPACE, " ")


def test_outcome_compares_arms_with_a_job_alone() -> None:
    text = outcome_of()
    assert "An iteration takes 200.0 ms alone." in text
    assert "Sharing the links fairly makes it 1.50 times as long (arm together)." in text
    assert "The simulator's mean is within 1 % of the measured one in every arm." in text
    assert "Every measured arm is valid." in text


def test_outcome_calls_equal_what_is_nearly_equal() -> None:
    shifted = arm("shifted", ALONE_S * 1.004, interleaver="cassini")
    text = outcome_of(arms=[arm("dedicated", ALONE_S, dedicated=True), shifted])
    assert "with time-shifts leaves it as long as alone, within 0.4 % (arm shifted)" in text


def test_outcome_without_an_ideal_names_the_fastest_arm() -> None:
    text = outcome_of(arms=[arm("slow", 0.4, sharing="fifo"), arm("quick", 0.2)])
    assert "An iteration takes 200.0 ms in arm quick, the fastest." in text
    assert (
        "Arm slow (first-come-first-served queues shared by all jobs) makes it 2.00 times" in text
    )


def test_outcome_names_the_arms_that_are_not_to_be_trusted() -> None:
    bad = {"status": "invalid", "invariants": []}
    text = outcome_of(arms=[arm("a", 0.2), arm("b", 0.2, verdict=bad)])
    assert "Arm b is invalid: the emulation broke a rule" in text


def test_outcome_of_a_prediction_says_that_nothing_was_measured() -> None:
    unmeasured = {"measured": None, "difference": None, "verdict": None, "scale": None}
    text = outcome_of(arms=[arm("a", 0.2, **unmeasured)])
    assert text.startswith("Nothing was measured")
    assert "An iteration takes 202.0 ms" in text


def test_outcome_never_compares_a_measurement_with_a_prediction() -> None:
    unmeasured = {"measured": None, "difference": None, "verdict": None, "scale": None}
    arms = [arm("dedicated", 0.2, dedicated=True, **unmeasured), arm("together", 0.3)]
    text = outcome_of(arms=arms, interrupted=True)
    assert "The run was interrupted: 1 of 2 arms have measured iterations." in text
    assert "times as long" not in text
    assert "in every arm that has both" in text


def test_verdict_in_words_gives_the_value_beside_the_limit() -> None:
    failed = invariant(name="link calibration", ok=False, value=0.0214)
    document = arm("a", 1, verdict={"status": "suspect", "invariants": [invariant(), failed]})
    verdict = Summary.model_validate(summary(arms=[document])).arms[0].verdict
    assert verdict is not None
    assert sentences.verdict_words(verdict) == (
        "1 of 2 invariants hold; link calibration does not "
        f"(2.14{SPACE}%, at most 2{SPACE}% allowed)."
    )


def test_scale_in_words() -> None:
    scale = Summary.model_validate(summary()).arms[0].scale
    assert scale is not None
    text = sentences.scale_words(scale).replace(words.SPACE, " ")
    assert text.startswith("Links are 380 times slower and transfers 380 times smaller")
    assert "37.5 % of what this machine forwards" in text
    assert "One CPU" not in text
    reason = "30 CPUs in 30% of 2 cores"
    divided = scale.model_copy(update={"cpu": CpuScaleRead(divisor=50.0, reason=reason)})
    text = sentences.scale_words(divided).replace(words.SPACE, " ")
    assert "One CPU is 2.00 % of a core of this machine, to have 30 CPUs in 30% of 2 cores." in text


def test_thinned_series_keep_every_byte_and_say_what_a_point_stands_for() -> None:
    t_s = np.cumsum(np.random.default_rng(1).uniform(0.01, 0.03, size=10_000))
    rates = np.random.default_rng(2).uniform(0, 50e9, size=(2, t_s.size))
    thin_t_s, thin_rates, samples = thinning.mean_of_runs(t_s, rates)
    assert thin_t_s.size <= thinning.MAX_POINTS
    lengths, thin_lengths = np.diff(t_s), np.diff(thin_t_s)
    after_first = slice(samples, None)
    sent = (rates[:, after_first] * lengths[samples - 1 :]).sum(axis=1)
    np.testing.assert_allclose((thin_rates[:, 1:] * thin_lengths).sum(axis=1), sent)
    assert thinning.note(samples, "samples") == "Each point stands for 7 samples."
    assert thinning.note(1, "samples") == ""


def test_thinned_distributions_keep_both_ends() -> None:
    values = np.random.default_rng(3).normal(size=50_000)
    at, share, samples = thinning.distribution(values)
    assert at.size <= thinning.MAX_POINTS
    assert (at[0], at[-1]) == (values.min(), values.max())
    assert share[-1] == 1
    assert samples == pytest.approx(50_000 / at.size)


def test_html_escapes_all_that_is_not_html() -> None:
    element = html.tag("p", "<b>", html.tag("i", "x"), title='"quoted"', hidden=True, id=False)
    assert element == '<p title="&quot;quoted&quot;" hidden>&lt;b&gt;<i>x</i></p>'
    assert (
        "<"
        not in html.data_block("</script><script>")[len('<script type="application/json">') : -9]
    )


def test_a_run_shows_every_arm_figure_and_sentence(tmp_path: Path) -> None:
    page = page_of(write_run(tmp_path))
    # Two circles, all arms together, and for each of two arms its times, its link and all links.
    assert page.count("figure") == len(page.figures) == FIGURES
    assert page.count("figcaption") == FIGURES
    for wanted in (
        "two-jobs",
        "1.50 times as long",
        "Before: no time-shift (score 0.50)",
        "After: the best shifts (score 1.00)",
        "00c0ffee",
        "380 times slower",
    ):
        assert wanted in page.text
    assert "% of busy → elsewhere" not in page.text


def test_what_was_not_enforced_is_said_once_for_all_arms(tmp_path: Path) -> None:
    verdict = {"status": "valid", "invariants": [invariant()], "unenforced": ["no cgroups"]}
    arms = [arm(name, 0.2, verdict=verdict) for name in ("dedicated", "together")]
    text = page_of(write_run(tmp_path / "a", summary(arms=arms))).text
    assert text.count("Not enforced: no cgroups.") == 1
    assert "Not enforced" not in page_of(write_run(tmp_path / "b")).text


def test_plotly_knows_every_property_of_every_figure(tmp_path: Path) -> None:
    for figure in page_of(write_run(tmp_path)).figures:
        go.Figure(figure)


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
    assert page.count("figure") == 2 * FIGURES


@pytest.mark.parametrize("name", ["simulated", "emulated"])
def test_a_directory_of_one_half_alone(tmp_path: Path, name: str) -> None:
    directory = write_side(tmp_path)
    absent: dict[str, Any] = {"difference": None}
    if name == "simulated":
        absent |= {"measured": None, "verdict": None, "scale": None}
    else:
        absent |= {"predicted": None}
        write_json(directory / "verdict.json", {})
    arms = [arm(arm_name, length, **absent) for arm_name, length in ARMS]
    write_json(directory / "summary.json", summary(arms=arms))
    page = page_of(directory)
    assert page.count("figure") == FIGURES - 2
    assert "No link carries more than one job" in page.text
    assert ("not measured" in page.text) is (name == "simulated")
    assert ("nothing was scaled" in page.text) is (name == "simulated")
    assert "simulator's mean" not in page.text


def test_an_interrupted_run_shows_what_there_is(tmp_path: Path) -> None:
    missing = {"measured": None, "difference": None, "verdict": None, "scale": None}
    arms = [arm("dedicated", ALONE_S, dedicated=True), arm("together", SHARED_S, **missing)]
    directory = write_run(tmp_path, summary(arms=arms, interrupted=True))
    write_side(directory / "emulated", ARMS[:1])
    page = page_of(directory)
    assert page.count("figure") == FIGURES
    assert "The run was interrupted: 1 of 2 arms" in page.text
    assert "not measured" in page.text


def test_arms_without_a_comparable_circle_say_why(tmp_path: Path) -> None:
    reason = "jobs one, two on left->right: the iteration times meet again only after 90 s"
    arms = [arm("together", SHARED_S, score=None, incomparable=[reason])]
    directory = write_run(tmp_path, summary(arms=arms))
    write_json(directory / "circles.json", [])
    page = page_of(directory)
    assert f"No circle in arm together: {reason}." in page.text
    assert "No link carries more than one job" not in page.text


def test_a_run_without_any_row_is_still_a_page(tmp_path: Path) -> None:
    nothing = dict.fromkeys(("measured", "predicted", "difference", "verdict", "scale"))
    directory = write_run(tmp_path, summary(arms=[arm("together", 1, **nothing)], interrupted=True))
    write_side(directory / "emulated", ())
    write_side(directory / "simulated", ())
    page = page_of(directory)
    assert page.count("figure") == 2
    for wanted in ("No arm has iterations after the warm-up", "No link was sampled"):
        assert wanted in page.text


def test_a_shared_queue_is_shown_without_telling_jobs_apart(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    rows = link_rows("dedicated", ALONE_S) + link_rows("together", SHARED_S, told_apart=False)
    write_table(directory / "emulated", "links", rows)
    names = {t.get("name") for figure in page_of(directory).figures for t in figure["data"]}
    assert "all jobs (one queue)" in names


def test_jobs_on_clusters_of_their_own_are_not_stacked(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    rows = [
        LinkRow(row.arm, f"n{row.job}", row.port, row.job, row.t_s, *[row.rate_bps] * 2, 0.0, 0)
        for row in link_rows("dedicated", ALONE_S)
    ]
    write_table(directory / "emulated", "links", rows)
    page = page_of(directory)
    assert "Each job, alone on its own copy of the link, fills 100 % of left → right" in page.text
    [figure] = [
        f for f in page.figures if "shapes" in f["layout"] and "stackgroup" not in f["data"][0]
    ]
    assert {trace["name"] for trace in figure["data"][:2]} == set(JOBS)


def test_long_tables_are_thinned_and_the_caption_says_so(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    count = thinning.MAX_POINTS * 3
    rows = [
        LinkRow("together", "n0", PORT, job, i * 0.02, 1e9, 50e9, 0.0, 0)
        for job in JOBS
        for i in range(1, count + 1)
    ]
    write_table(directory / "emulated", "links", rows)
    page = page_of(directory)
    assert "Each point stands for 3 samples below and in the CSV." in page.text
    assert (
        max(len(t.get("x", ())) for f in page.figures for t in f["data"]) <= thinning.MAX_POINTS + 1
    )


MIDDLE = ["left", "right"]


def event(change: str, at_s: float, value: float | None = None, **changes: Any) -> dict[str, Any]:
    made = [{"network": "n0", "begun_s": at_s + 0.001, "done_s": at_s + 0.004}]
    return {
        "at_s": at_s,
        "link": MIDDLE,
        "change": change,
        "value": value,
        "simulated": change != "latency",
        "made": made,
    } | changes


def with_events(directory: Path, *events: dict[str, Any]) -> Path:
    arms = [arm("together", SHARED_S, events=list(events))]
    return write_run(directory, summary(arms=arms))


def test_events_are_labelled_lines_where_time_runs(tmp_path: Path) -> None:
    directory = with_events(
        tmp_path,
        event("rate", 0.5, 25e9),
        event("down", 1.0),
        event("latency", 3.0, 0.2e-3, link=["elsewhere", "busy"]),
    )
    page = page_of(directory)
    [figure] = [f for f in page.figures if "yaxis2" in f["layout"]]
    go.Figure(figure)
    upright = [s for s in figure["layout"]["shapes"] if s["type"] == "line" and s["x0"] == s["x1"]]
    labels = [(a["xref"], a["x"], a["text"]) for a in figure["layout"]["annotations"]]
    close, whole = [(0.5, "25 Gbit/s"), (1.0, "down")], (3.0, "elsewhere – busy +200.0 µs")
    expected = [("x", *each) for each in close] + [("x2", *each) for each in (*close, whole)]
    found = [(x, at, text.replace(SPACE, " ")) for x, at, text in labels if x in ("x", "x2")]
    assert found == expected
    assert [(s["xref"], s["x0"]) for s in upright] == [(x, at) for x, at, _ in expected]
    assert "each dashed vertical line is a change of a link" in page.text


def test_events_are_told_with_when_they_were_made(tmp_path: Path) -> None:
    directory = with_events(tmp_path, event("up", 1.0), event("latency", 3.0, 0.2e-3, made=[]))
    text = " ".join(page_of(directory).text.split())
    assert "Changes of links" in text
    for wanted in ("left – right", "4.000 ms", "+200.0 µs", "not made"):
        assert wanted in text
    assert "Changes of links" not in page_of(write_run(tmp_path / "without")).text


def test_a_capacity_that_changed_is_drawn_in_steps(tmp_path: Path) -> None:
    directory = with_events(tmp_path, event("rate", 1.0, 25e9))
    rows = [
        replace(row, capacity_bps=25e9 if row.t_s > 1.0 else 50e9)
        for row in link_rows("together", SHARED_S)
    ]
    write_table(directory / "emulated", "links", rows)
    [figure] = [f for f in page_of(directory).figures if "yaxis2" in f["layout"]]
    level = [s for s in figure["layout"]["shapes"] if s["type"] == "line" and s["y0"] == s["y1"]]
    whole = [(s["x0"], s["x1"], s["y0"]) for s in level if s["xref"] == "x2"]
    end_s = max(row.t_s for row in rows)
    assert whole == [(0.0, pytest.approx(1.02), 50.0), (pytest.approx(1.02), end_s, 25.0)]


def marked_run(directory: Path, counts: dict[str, int | None]) -> Path:
    """A run with a threshold in one arm; counts: marked packets of each sample, by job."""
    arms = [arm("together", SHARED_S, transport={"ecn_threshold": 30e3}), arm("plain", SHARED_S)]
    write_run(directory, summary(arms=arms))
    rows = [
        replace(row, sent_packets=10, marked_packets=counts[row.job] if row.port == PORT else 0)
        for row in link_rows("together", SHARED_S)
        if row.job is not None
    ]
    write_table(directory / "emulated", "links", rows + link_rows("plain", SHARED_S))
    return directory


def test_marks_are_told_by_link_and_job_where_there_are_any(tmp_path: Path) -> None:
    directory = marked_run(tmp_path, {"one": 1, "two": 0})
    text = " ".join(page_of(directory).text.split())
    samples = len([row for row in link_rows("together", SHARED_S) if row.port == PORT]) // 2
    assert f"In arm together {samples} packets found more than 30 kB at left → right." in text
    assert f"together left → right one {samples} {10 * samples}".replace(" ", "") in text.replace(
        " ", ""
    )
    assert "10.0 %" in text
    assert "arm plain" not in text[text.index("Marked packets") : text.index("Verdict")]


def test_marks_that_are_not_there_and_those_that_could_not_be_are_told_apart(
    tmp_path: Path,
) -> None:
    none = page_of(marked_run(tmp_path / "none", {"one": 0, "two": 0})).text
    assert "No port of arm together had more than 30 kB waiting." in none
    directory = marked_run(tmp_path / "unknown", {"one": 0, "two": 0})
    rows = [replace(row, marked_packets=None) for row in link_rows("together", SHARED_S)]
    write_table(directory / "emulated", "links", rows)
    assert "In arm together nothing could mark packets above 30 kB." in page_of(directory).text


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    document = summary(description=HOSTILE)
    document["jobs"][0] |= {"job": HOSTILE, "model": HOSTILE, "source": HOSTILE}
    directory = write_run(tmp_path, document)
    write_json(directory / "circles.json", [circle(jobs=[HOSTILE, "two"], ports=[HOSTILE])])
    (directory / "emulated" / "scenario.yaml").write_text(HOSTILE, encoding="utf-8")
    safe, hostile = page_of(write_run(tmp_path / "safe")), page_of(directory)
    for tag in ("script", "img", "figure"):
        assert hostile.count(tag) == safe.count(tag)
    assert HOSTILE in hostile.text
    names = [str(t.get("name")) for figure in hostile.figures for t in figure["data"]]
    assert not [name for name in names if re.search("[<>]", name)]


def test_csv_of_a_figure_is_a_table_that_can_be_read(tmp_path: Path) -> None:
    found = page_of(write_run(tmp_path)).data()
    assert len(found) == FIGURES
    assert all(len(frame) > 1 for frame in found.values())


@pytest.mark.parametrize(
    ("file", "text", "key"),
    [
        ("summary.json", "{", None),
        ("summary.json", "{}", "scenario"),
        ("circles.json", '[{"ports": ["a"]}]', "0.jobs"),
        ("emulated/provenance.json", "[]", None),
    ],
)
def test_damaged_documents_are_named(tmp_path: Path, file: str, text: str, key: str | None) -> None:
    directory = write_run(tmp_path)
    (directory / file).write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        build_report([directory])
    assert (error.value.file, error.value.key) == (directory / file, key)


def test_a_circle_must_have_a_demand_for_each_job(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    write_json(directory / "circles.json", [circle(demand=[[(72, 1.0)]])])
    with pytest.raises(BadInputError, match="missing for a job"):
        build_report([directory])


@pytest.mark.parametrize(
    "other", [[(71, 1.0)], [(36, 0.0), (37, 1.0)], [], [(2**24, 1.0)]], ids=str
)
def test_a_circle_has_the_same_slices_of_each_job(tmp_path: Path, other: Any) -> None:
    directory = write_run(tmp_path)
    write_json(directory / "circles.json", [circle(demand=[[(36, 0.0), (36, 1.0)], other])])
    with pytest.raises(BadInputError) as error:
        build_report([directory])
    assert error.value.file == directory / "circles.json"


def test_a_circle_of_too_many_slices_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    directory = write_run(tmp_path)
    write_json(directory / "circles.json", [circle(demand=[[(2**23, 1.0)]] * 2)])
    with pytest.raises(BadInputError, match="far too many"):
        build_report([directory])


def test_demand_that_no_circle_has_is_told(tmp_path: Path) -> None:
    document = summary(arms=[arm("together", SHARED_S, clipped={"one": 0.25})])
    text = page_of(write_run(tmp_path, document)).text.replace(SPACE, " ")
    wanted = "In arm together job one asks for more than the rate of a link: 25.0 % of its bits"
    assert wanted in text
    assert "asks for more" not in page_of(write_run(tmp_path)).text


def test_what_is_not_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=re.escape("there is no summary.json")):
        build_report([tmp_path])
    with pytest.raises(BadInputError, match="no run to report"):
        build_report([])


def test_write_report_refuses_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    directory = write_run(tmp_path / "run")
    write_report([directory], tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(BadInputError, match="cannot be written"):
        write_report([directory], tmp_path)
