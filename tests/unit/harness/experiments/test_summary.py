"""summary.json, with its keys exactly, for whole, simulated and interrupted runs."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from emulator.measurement import ArmMeasurement
from emulator.scale import ScalePlan
from emulator.verdict import invariants_of, judge
from harness.cli.show import print_summary
from harness.experiments.decide import Decision
from harness.experiments.predict import ArmPrediction, predict_placed
from harness.experiments.run import ArmResult, decide_all, predict_all, scale_of
from harness.experiments.store import write_emulated, write_simulated
from harness.experiments.summary import job_rows, summarise, verdict_document
from harness.scheduling.cassini.interleaving import interleave
from harness.scheduling.cassini.links import SharedLink
from harness.scheduling.cassini.memo import Rotations
from tests.unit.builders import (
    SCENARIO,
    edited,
    iteration_row,
    sound_box,
    sound_port,
    sound_switch,
    write_scenario,
)
from tests.unit.harness.scheduling.cassini.demand_curves import LINE, curve
from traces.cluster import Port
from traces.results import EventRow, LinkRow
from traces.run_directory import read_json, read_table
from traces.scenario import Scenario, load_scenario

SCALE = ScalePlan(100.0, 1.6e9, "measured on 2026-11-30", 8e8, 640.0, "a test")
ARM_KEYS = {
    "name", "sharing", "dedicated", "interleaver", "transport", "measured", "predicted",
    "difference", "events",
    "time_shifts_s", "score", "incomparable", "clipped", "affinity_loops", "verdict", "scale",
}  # fmt: skip


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    return load_scenario(write_scenario(tmp_path))


def measured(arm: str, length_s: float, port_rate: float = 8e6) -> ArmMeasurement:
    rows = [iteration_row(arm, 0, 9.0, job="job-a", counted=False)]
    rows += [iteration_row(arm, n, length_s, job="job-a") for n in range(1, 5)]
    ports = [sound_port(calibrated_bps=port_rate)]
    verdict = judge(invariants_of(ports, [sound_switch()], sound_box()))
    return ArmMeasurement(arm, rows, [], {"job-a": 3}, verdict, False, 0.02, 0.03)


def cut_short(arm: str) -> ArmMeasurement:
    """Stopped before anything was counted."""
    box = sound_box(iterations_measured=0, lateness=[])
    verdict = judge(invariants_of([sound_port()], [sound_switch()], box))
    return ArmMeasurement(arm, [], [], {}, verdict, True, 0.02, 0.03)


def predicted(arm: str, length_s: float) -> ArmPrediction:
    return ArmPrediction(arm, [iteration_row(arm, n, length_s, job="job-a") for n in range(4)])


def results_of(scenario: Scenario) -> list[ArmResult]:
    return decide_all(scenario)


def summary_of(
    scenario: Scenario,
    results: list[ArmResult],
    scale: ScalePlan = SCALE,
    interrupted: bool = False,
) -> dict[str, Any]:
    """As a reader of the file has it."""
    document = summarise(scenario, scale, results, interrupted=interrupted)
    read: dict[str, Any] = json.loads(json.dumps(document, allow_nan=False))
    return read


def test_a_whole_run_has_everything_of_every_arm(scenario: Scenario) -> None:
    results = results_of(scenario)
    for result in results:
        result.prediction = predicted(result.arm.name, 0.22)
        result.measurement = measured(result.arm.name, 0.2)
    summary = summary_of(scenario, results)
    assert set(summary) == {
        "scenario", "description", "seed", "interrupted", "warnings", "jobs", "arms",
    }  # fmt: skip
    assert summary["warnings"] == []
    assert [arm["name"] for arm in summary["arms"]] == ["dedicated", "together", "shifted", "fifo"]
    for arm in summary["arms"]:
        assert set(arm) == ARM_KEYS | {"adjustments", "interrupted", "sampling"}
        assert arm["measured"] == {"iteration_s": {"mean": 0.2, "p50": 0.2, "p99": 0.2}}
        assert arm["predicted"] == {"iteration_s": {"mean": 0.22, "p50": 0.22, "p99": 0.22}}
        assert arm["difference"] == pytest.approx({"mean": 0.1, "p50": 0.1, "p99": 0.1})
        assert set(arm["time_shifts_s"]) == {"job-a", "job-b"}
        assert set(arm["verdict"]) == {"status", "invariants", "unenforced"}
        assert arm["verdict"]["status"] == "valid"
        assert len(arm["verdict"]["invariants"]) == 9
        assert set(arm["scale"]) == {
            "rate_divisor", "reason", "load_hop_bps", "budget_hop_bps", "budget_source",
            "smallest_transfer_packets", "cpu", "warnings",
        }  # fmt: skip
        assert arm["scale"]["rate_divisor"] == 100.0
        assert arm["scale"]["budget_source"] == "measured on 2026-11-30"


def test_the_head_says_what_ran(scenario: Scenario) -> None:
    summary = summary_of(scenario, results_of(scenario))
    assert (summary["scenario"], summary["seed"], summary["interrupted"]) == ("toy", 7, False)
    assert [job["job"] for job in summary["jobs"]] == ["job-a", "job-b"]
    assert {job["model"] for job in summary["jobs"]} == {"vgg19"}
    assert {job["provenance"] for job in summary["jobs"]} == {"reconstructed"}


def test_the_head_names_the_jobs_of_every_arm_once(tmp_path: Path) -> None:
    own = "together: {workload: {jobs: [{id: other, profile: vgg19, servers: [left0, right0]}]}}"
    scenario = load_scenario(write_scenario(tmp_path, edited(SCENARIO, "together: {}", own)))
    summary = summary_of(scenario, results_of(scenario))
    assert [job["job"] for job in summary["jobs"]] == ["job-a", "job-b", "other"]


def test_shifts_and_score_are_the_decisions(scenario: Scenario) -> None:
    arms = {arm["name"]: arm for arm in summary_of(scenario, results_of(scenario))["arms"]}
    assert arms["together"]["time_shifts_s"] == {"job-a": 0.0, "job-b": 0.0}
    assert arms["shifted"]["time_shifts_s"]["job-b"] > 0.05
    assert arms["shifted"]["score"] == pytest.approx(1.0)
    assert arms["together"]["score"] < 0.7
    assert arms["dedicated"]["score"] == 1.0
    assert arms["fifo"]["sharing"] == "fifo"


def test_a_simulated_run_has_no_measurement_verdict_or_scale(scenario: Scenario) -> None:
    results = results_of(scenario)
    predict_all(results, lambda *_: None, lambda: False)
    for arm in summary_of(scenario, results)["arms"]:
        assert set(arm) == ARM_KEYS
        assert arm["measured"] is arm["verdict"] is arm["scale"] is arm["difference"] is None
        assert arm["predicted"]["iteration_s"]["mean"] > 0.2


def test_an_interrupted_run_keeps_what_was_measured(scenario: Scenario) -> None:
    results = results_of(scenario)
    for result in results:
        result.prediction = predicted(result.arm.name, 0.22)
    results[0].measurement = measured("dedicated", 0.2)
    results[1].measurement = cut_short("together")
    summary = summary_of(scenario, results, interrupted=True)
    first, second, third, _ = summary["arms"]
    assert summary["interrupted"]
    assert first["measured"]["iteration_s"]["mean"] == pytest.approx(0.2)
    assert not first["interrupted"]
    # begun, and ended before anything was counted
    assert second["measured"] is second["difference"] is None
    assert second["interrupted"]
    assert second["verdict"]["status"] == "suspect"
    assert second["adjustments"] == {}
    # never begun
    assert third["measured"] is third["verdict"] is third["scale"] is None
    assert set(third) == ARM_KEYS
    assert third["predicted"] is not None


def test_a_failed_invariant_is_told_with_value_and_limit(scenario: Scenario) -> None:
    document = verdict_document(measured("a", 0.2, port_rate=7.6e6).verdict)
    (failed,) = [each for each in document["invariants"] if not each["ok"]]
    assert document["status"] == failed["on_failure"] == "suspect"
    assert failed["name"] == "link calibration"
    assert failed["value"] == pytest.approx(0.05)
    assert failed["limit"] == 0.02
    assert failed["explanation"]


def test_a_scale_without_transfers_is_still_json(scenario: Scenario) -> None:
    results = results_of(scenario)[:1]
    results[0].measurement = measured("dedicated", 0.2)
    scale = ScalePlan(1000.0, 1e9, "assumed", 0.0, math.inf, "no transfer crosses a link")
    (arm,) = summary_of(scenario, results, scale)["arms"]
    assert arm["scale"]["smallest_transfer_packets"] is None


def test_a_given_scale_is_taken_from_the_scenario(tmp_path: Path) -> None:
    text = write_scenario(tmp_path).read_text() + "scale: {rate_divisor: 50}\n"
    assert scale_of(load_scenario(write_scenario(tmp_path, text))).rate_divisor == 50


def test_the_jobs_table_has_a_row_for_every_job_also_without_iterations(
    scenario: Scenario,
) -> None:
    result = results_of(scenario)[2]
    measurement = measured("shifted", 0.2)
    first, second = job_rows(result, measurement.iterations, measurement.adjustments)
    assert (first.job, first.iterations, first.mean_iteration_s) == ("job-a", 4, 0.2)
    assert (first.adjustments, first.workers, first.model) == (3, 2, "vgg19")
    assert (second.job, second.iterations, second.adjustments) == ("job-b", 0, 0)
    assert math.isnan(second.p99_iteration_s)
    assert second.time_shift_s == result.decision.shifts["job-b"].shift_s


def test_what_was_done_is_written_with_the_same_tables(scenario: Scenario, tmp_path: Path) -> None:
    results = results_of(scenario)
    results[0].prediction = predicted("dedicated", 0.22)
    results[0].measurement = measured("dedicated", 0.2)
    write_simulated(tmp_path / "simulated", scenario, results)
    write_emulated(tmp_path / "emulated", scenario, "run1", SCALE, results)
    for side, length in (("simulated", 0.22), ("emulated", 0.2)):
        place = tmp_path / side
        frame = read_table(place, "iterations")
        assert set(frame["arm"]) == {"dedicated"}
        assert frame[frame["counted"]]["iteration_s"].mean() == pytest.approx(length)
        assert (place / "scenario.yaml").read_text() == scenario.text
        assert len(read_table(place, "links")) == 0
        assert list(read_table(place, "jobs")["job"]) == ["job-a", "job-b"]
        assert read_json(place / "timeline.json")["traceEvents"]
    origin = read_json(tmp_path / "emulated" / "provenance.json")
    assert origin["run_id"] == "run1"
    assert origin["budget"] == {"hop_bps": 1.6e9, "source": "measured on 2026-11-30"}
    assert "budget" not in read_json(tmp_path / "simulated" / "provenance.json")
    assert list(read_json(tmp_path / "emulated" / "verdict.json")) == ["dedicated"]
    assert not (tmp_path / "simulated" / "verdict.json").exists()


def test_events_tell_when_they_were_made_on_each_network(tmp_path: Path) -> None:
    link = "[switch-left, switch-right]"
    events = (
        f"events:\n  - {{at: 1 s, link: {link}, rate: 25 Gbit/s}}\n"
        f"  - {{at: 9 s, link: {link}, latency: 1 ms}}\n"
    )
    scenario = load_scenario(write_scenario(tmp_path, SCENARIO + events))
    results = results_of(scenario)
    name = "switch-left-switch-right rate 25 Gbit/s"
    made = EventRow("dedicated", "n1", name, 1.0, 1.001, 1.004)
    results[0].measurement = replace(measured("dedicated", 0.2), events=[made])
    first, second = summary_of(scenario, results)["arms"][0]["events"]
    assert first == {
        "at_s": 1.0,
        "link": ["switch-left", "switch-right"],
        "change": "rate",
        "value": 25e9,
        "simulated": True,
        "made": [{"network": "n1", "begun_s": 1.001, "done_s": 1.004}],
    }
    assert (second["change"], second["value"], second["simulated"]) == ("latency", 0.001, False)
    assert second["made"] == []


@pytest.mark.parametrize(
    ("counts", "expected"), [((2, 3), {"job-a": 2, "all jobs": 3}), ((2, None), None)]
)
def test_marks_are_told_by_job_or_not_at_all(
    tmp_path: Path, counts: tuple[int, int | None], expected: dict[str, int] | None
) -> None:
    text = SCENARIO + "transport: {ecn_threshold: 30 kB}\n"
    scenario = load_scenario(write_scenario(tmp_path, text))
    results = results_of(scenario)
    links = [
        LinkRow("dedicated", "n0", "a->b", job, 1.0, 1.0, 1.0, 0.0, 0, 9, count)
        for job, count in zip(("job-a", None), counts, strict=True)
    ]
    results[0].measurement = replace(measured("dedicated", 0.2), links=links)
    assert summary_of(scenario, results)["arms"][0]["marked_packets"] == expected


SCHEDULED = """\
name: scheduled
cluster: {preset: single-switch, servers: 3, rate: 50 Gbit/s, gpus: 2}
workload:
  iterations: 4
  warmup_iterations: 1
  jobs:
    - {id: one, profile: vgg19, workers: 3}
    - {id: two, profile: vgg19, workers: 3, start: 2 s}
scheduler: {placement: themis, round: 1 s, restart: 0.5 s}
arms:
  plain: {}
  interleaved: {scheduler: {interleaver: cassini}}
"""


def test_an_arm_with_a_scheduler_tells_of_it(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path, SCHEDULED))
    results = decide_all(scenario)
    predict_all(results, lambda *_: None, lambda: False)
    document = json.loads(json.dumps(summarise(scenario, None, results, interrupted=False)))
    plain, interleaved = document["arms"]
    for each in (plain, interleaved):
        assert set(each) == ARM_KEYS | {"schedule"}
        schedule = each["schedule"]
        assert (schedule["placement"], schedule["round_s"]) == ("themis", 1.0)
        assert schedule["measured"] is None
        predicted = schedule["predicted"]
        assert (predicted["starts"], predicted["decisions"]) == (2, 2)
        assert set(predicted["completion_s"]) == {"one", "two"}
        # each waits half a second before its five iterations
        assert predicted["completion_s"]["one"] == pytest.approx(0.5 + 5 * 0.2607, rel=1e-3)
    assert plain["score"] is None
    assert plain["schedule"]["predicted"]["candidates"] == 0
    assert interleaved["score"] == 1.0
    assert interleaved["schedule"]["predicted"]["candidates"] >= 2


def test_a_job_that_did_not_end_has_no_completion(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path, SCHEDULED))
    results = decide_all(scenario)[:1]
    prediction = predict_placed(results[0].arm, 1, lambda *_: None, lambda: True)
    results[0].prediction = prediction
    document = summarise(scenario, None, results, interrupted=True)
    predicted = document["arms"][0]["schedule"]["predicted"]
    assert predicted["completion_s"] == {"one": None, "two": None}
    assert predicted["starts"] == 1


def test_demand_above_the_rate_of_a_link_is_told(
    scenario: Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    results = decide_all(scenario)
    double = curve((0.0, 0.012), rate=2 * LINE)
    link = SharedLink(("job-a", "job-b"), (Port("a", "b"),), (double, double), LINE)
    results[1].decision = Decision(interleave([link], Rotations()), {}, 1.0)
    document = summary_of(scenario, results)
    half = {"job-a": pytest.approx(0.5), "job-b": pytest.approx(0.5)}
    assert [arm["clipped"] for arm in document["arms"]] == [{}, half, {}, {}]
    print_summary(document)
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("asks for more than the rate of a link: 50.0 % of its bits") == 2
    assert "in arm together job job-b asks" in said


def test_so_it_is_of_placements_that_were_chosen(tmp_path: Path) -> None:
    scenario = load_scenario(write_scenario(tmp_path, SCHEDULED))
    results = decide_all(scenario)
    predict_all(results, lambda *_: None, lambda: False)
    placed = results[1].prediction and results[1].prediction.placed
    assert placed is not None
    placed.record.clipped["one"] = 0.25
    document = summarise(scenario, None, results, interrupted=False)
    assert [arm["clipped"] for arm in document["arms"]] == [{}, {"one": 0.25}]
