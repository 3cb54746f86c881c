"""The stored budget: whole or not at all, the caller's, and only for the box it was measured on."""

from __future__ import annotations

import datetime
import json
import os
import pwd
import stat
from pathlib import Path
from typing import Any

import pytest

from emulator.budget_store import (
    MeasuredBudget,
    budget_file,
    budget_for,
    budget_here,
    read_budget,
    store_budget,
)
from emulator.machine import Machine
from emulator.scale import BITS_PER_S_AND_CORE
from traces.errors import BadInputError

BOX = Machine("6.1.0", "AMD EPYC", 2)
MEASURED_AT = datetime.datetime(2026, 11, 30, 23, 30, tzinfo=datetime.UTC)


def measured(machine: Machine = BOX, **changes: Any) -> MeasuredBudget:
    values: dict[str, Any] = {
        "hop_bps": 2.1e9,
        "cpu_share": 0.88,
        "rate_error": 0.004,
        "measured_utc": MEASURED_AT,
        "kernel": machine.kernel,
        "cpu": machine.cpu,
        "cores": machine.cores,
    }
    return MeasuredBudget(**(values | changes))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ROUNDELAY_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setattr("emulator.budget_store.this_machine", lambda: BOX)
    return tmp_path / "state"


def test_it_comes_back_as_it_was(state: Path) -> None:
    assert read_budget() is None
    assert store_budget(measured()) == state / "budget.json"
    assert read_budget() == measured()
    assert json.loads((state / "budget.json").read_text())["measured_utc"].startswith("2026-11-30")
    assert [path.name for path in state.iterdir()] == ["budget.json"]


def test_a_new_value_takes_the_place_of_the_old() -> None:
    store_budget(measured())
    store_budget(measured(cpu=None, hop_bps=3e9))
    assert read_budget() == measured(cpu=None, hop_bps=3e9)


def test_whoever_plans_may_read_it() -> None:
    assert stat.S_IMODE(store_budget(measured()).stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hop_bps", 0),
        ("hop_bps", -1e9),
        ("hop_bps", 1e30),
        ("hop_bps", "2e9"),
        ("cpu_share", 1.5),
        ("cores", 0),
        ("cores", 1.5),
        ("measured_utc", "yesterday"),
        ("measured_utc", "2026-11-30T10:00:00"),
        ("kernel", None),
        ("unknown", 1),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_key(key: str, value: object) -> None:
    file = store_budget(measured())
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    with pytest.raises(BadInputError) as caught:
        read_budget()
    assert caught.value.key == key
    assert caught.value.file == file


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"hop_bps": NaN}', "\0" * 100_000])
def test_a_damaged_file_costs_no_run_and_is_said(content: str) -> None:
    file = store_budget(measured())
    file.write_text(content)
    with pytest.raises(BadInputError):
        read_budget()
    budget = budget_here()
    assert not budget.is_measured
    assert str(file) in budget.source
    assert budget.source.endswith("run roundelay doctor --measure")


def test_a_directory_in_its_place_is_said(state: Path) -> None:
    (state / "budget.json").mkdir(parents=True)
    assert "cannot be read" in budget_here().source
    with pytest.raises(BadInputError, match="cannot be stored"):
        store_budget(measured())
    assert [path.name for path in state.iterdir()] == ["budget.json"]


def test_a_place_that_cannot_be_made_is_said(state: Path) -> None:
    state.write_text("a file")
    with pytest.raises(BadInputError, match="cannot be stored") as caught:
        store_budget(measured())
    assert "ROUNDELAY_STATE_DIR" in caught.value.allowed


def test_on_the_box_that_was_measured_it_is_used() -> None:
    store_budget(measured())
    budget = budget_here()
    assert (budget.hop_bps, budget.is_measured) == (2.1e9, True)
    assert budget.source == "measured on 2026-11-30"


def test_without_it_the_budget_is_assumed() -> None:
    budget = budget_here()
    assert (budget.hop_bps, budget.is_measured) == (2 * BITS_PER_S_AND_CORE, False)
    assert budget.source == "assumed: run roundelay doctor --measure"


@pytest.mark.parametrize(
    ("then", "said"),
    [
        (Machine("5.10.0", "AMD EPYC", 2), "another kernel (5.10.0; now 6.1.0)"),
        (Machine("6.1.0", "Intel Xeon", 2), "another CPU (Intel Xeon; now AMD EPYC)"),
        (Machine("6.1.0", "AMD EPYC", 64), "another number of cores (64; now 2)"),
    ],
)
def test_that_of_another_box_is_not_used_and_that_is_said(then: Machine, said: str) -> None:
    budget = budget_for(measured(then), BOX)
    assert (budget.hop_bps, budget.is_measured) == (2 * BITS_PER_S_AND_CORE, False)
    assert f"measured on 2026-11-30 with {said}" in budget.source


@pytest.mark.parametrize(
    ("later", "said"),
    [
        (datetime.timedelta(minutes=5), "today"),
        (datetime.timedelta(hours=1), "yesterday"),
        (datetime.timedelta(days=12), "12 days ago"),
        (datetime.timedelta(days=-2), "today"),  # a clock that was set back
    ],
)
def test_its_age_is_told_in_days(later: datetime.timedelta, said: str) -> None:
    assert measured().age(MEASURED_AT + later) == said


def test_its_place_is_the_state_directory_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROUNDELAY_STATE_DIR")
    monkeypatch.delenv("SUDO_UID", raising=False)
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert budget_file() == Path("/elsewhere/roundelay/budget.json")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert budget_file() == Path("/home/somebody/.local/state/roundelay/budget.json")
    monkeypatch.delenv("XDG_STATE_HOME")
    assert budget_file() == Path("/home/somebody/.local/state/roundelay/budget.json")


def behind_sudo(monkeypatch: pytest.MonkeyPatch, uid: int) -> None:
    monkeypatch.delenv("ROUNDELAY_STATE_DIR")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("HOME", "/root")
    monkeypatch.setenv("SUDO_UID", str(uid))


def test_under_sudo_its_place_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    user = pwd.getpwall()[-1]
    behind_sudo(monkeypatch, user.pw_uid)
    home = Path(pwd.getpwuid(user.pw_uid).pw_dir)
    assert budget_file() == home / ".local/state/roundelay/budget.json"


def test_under_sudo_without_a_known_caller_its_place_is_roots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    behind_sudo(monkeypatch, 4_000_000_000)
    assert budget_file() == Path("/root/.local/state/roundelay/budget.json")


def test_under_sudo_all_that_was_made_is_given_to_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[Path, int, int]] = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(
        os, "chown", lambda path, uid, gid, follow_symlinks: given.append((path, uid, gid))
    )
    monkeypatch.setenv("SUDO_UID", "12345")
    monkeypatch.setenv("SUDO_GID", "23456")
    place = tmp_path / "a" / "b"
    monkeypatch.setenv("ROUNDELAY_STATE_DIR", str(place))
    store_budget(measured())
    assert given == [(path, 12345, 23456) for path in (place.parent, place, place / "budget.json")]
    given.clear()
    store_budget(measured())
    assert given == [(place / "budget.json", 12345, 23456)]
