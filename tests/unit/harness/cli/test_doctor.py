"""doctor: what is stored, what is measured, and what is said where nothing could be."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from emulator.budget import BusyBoxError
from emulator.budget_store import MeasuredBudget, store_budget
from emulator.doctor import Finding
from emulator.machine import this_machine
from harness.cli import doctor as verb
from tests.unit.builders import write_scenario
from tests.unit.harness.cli.conftest import Roundelay


def measured(**changes: Any) -> MeasuredBudget:
    machine = this_machine()
    values: dict[str, Any] = {
        "hop_bps": 1.234e9,
        "cpu_share": 0.87,
        "rate_error": 0.003,
        "measured_utc": datetime.datetime.now(datetime.UTC),
        "kernel": machine.kernel,
        "cpu": machine.cpu,
        "cores": machine.cores,
    }
    return MeasuredBudget(**(values | changes))


def budget_finding(result: Result) -> dict[str, Any]:
    findings: dict[str, dict[str, Any]] = {
        each["name"]: each for each in json.loads(result.stdout)["findings"]
    }
    return findings["budget"]


@pytest.fixture
def sound_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """A box on which --measure may begin, whoever runs the tests."""

    class NoSession:
        def __init__(self, run_id: str) -> None:
            del run_id

        def __enter__(self) -> NoSession:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    for check in ("require_tools", "require_privileges", "require_quiet_box"):
        monkeypatch.setattr(verb, check, lambda: None)
    monkeypatch.setattr(verb, "Session", NoSession)
    monkeypatch.setattr(verb, "examine", lambda: [Finding("a", True, True, "found")])


def measures(monkeypatch: pytest.MonkeyPatch, result: Callable[[], MeasuredBudget | None]) -> None:
    monkeypatch.setattr(verb, "measure_budget", lambda *_: result())


def test_without_a_measurement_the_budget_is_assumed(roundelay: Roundelay) -> None:
    result = roundelay("doctor", "--json")
    budget = json.loads(result.stdout)["budget"]
    assert budget["source"] == "assumed: run roundelay doctor --measure"
    assert budget["stored"] is None
    assert not budget_finding(result)["ok"]
    assert "run roundelay doctor --measure" in result.stderr


def test_the_stored_value_is_shown_with_its_age(roundelay: Roundelay) -> None:
    store_budget(measured())
    result = roundelay("doctor", "--json")
    budget = json.loads(result.stdout)["budget"]
    assert budget["hop_bps"] == budget["stored"]["hop_bps"] == 1.234e9
    assert budget["source"].startswith("measured on ")
    assert budget_finding(result)["ok"]
    assert "1.234 Gbit/s x hops at 87% of the CPU, today" in result.stderr


def test_that_of_another_kernel_is_shown_and_not_used(roundelay: Roundelay) -> None:
    store_budget(measured(kernel="2.6.32"))
    result = roundelay("doctor", "--json")
    budget = json.loads(result.stdout)["budget"]
    assert budget["hop_bps"] != 1.234e9
    assert "another kernel (2.6.32; now " in budget["source"]
    assert budget["stored"]["kernel"] == "2.6.32"
    assert not budget_finding(result)["ok"]


def test_a_damaged_file_is_said_and_doctor_goes_on(roundelay: Roundelay, tmp_path: Path) -> None:
    file = store_budget(measured())
    file.write_text("{")
    result = roundelay("doctor", "--json")
    assert result.exit_code in (0, 3)
    assert str(file) in json.loads(result.stdout)["budget"]["source"]


@pytest.mark.usefixtures("sound_box")
def test_what_is_measured_is_stored_and_shown(
    roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    measures(monkeypatch, measured)
    result = roundelay("doctor", "--measure", "--json")
    assert result.exit_code == 0
    file = tmp_path / "state" / "budget.json"
    assert f"stored in {file}" in result.stderr
    assert json.loads(result.stdout)["budget"]["stored"] == json.loads(file.read_text())


@pytest.mark.usefixtures("sound_box")
def test_a_stopped_measurement_stores_nothing(
    roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    measures(monkeypatch, lambda: None)
    result = roundelay("doctor", "--measure")
    assert result.exit_code == 130
    assert "nothing is stored" in result.stderr
    assert not (tmp_path / "state").exists()


@pytest.mark.usefixtures("sound_box")
def test_a_busy_box_is_one_line_and_leaves_the_old_value(
    roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy() -> None:
        raise BusyBoxError("60% of the CPU is in use by other programs")

    file = store_budget(measured())
    before = file.read_text()
    monkeypatch.setattr(verb, "require_quiet_box", busy)
    result = roundelay("doctor", "--measure")
    assert result.exit_code == 1
    assert result.stderr == "roundelay: 60% of the CPU is in use by other programs\n"
    assert file.read_text() == before


def test_measuring_needs_root(roundelay: Roundelay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb, "require_tools", lambda: None)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    result = roundelay("doctor", "--measure")
    assert result.exit_code == 3
    assert "needs root; run the command with sudo" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_plan_uses_the_stored_budget_and_says_so(roundelay: Roundelay, tmp_path: Path) -> None:
    scenario = write_scenario(tmp_path)
    assumed = json.loads(roundelay("plan", scenario, "--json").stdout)["scale"]
    assert assumed["budget_source"].startswith("assumed: ")
    store_budget(measured(hop_bps=1e8))
    result = roundelay("plan", scenario)
    date = measured().date
    assert f"# budget: 100 Mbit/s x hops, measured on {date}; " in result.stdout
    found = json.loads(roundelay("plan", scenario, "--json").stdout)["scale"]
    assert found["budget_hop_bps"] == 1e8
    assert found["rate_divisor"] > assumed["rate_divisor"]
