"""Events of links: read whole and in order, or refused with file, line, key and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import SCENARIO, edited, line_of, write_scenario
from tests.unit.refusal import refusal_of
from traces.cluster import Port
from traces.errors import BadInputError
from traces.link_events import Change, LinkEvent, fastest, last_up_s
from traces.scenario import Scenario, load_scenario

MIDDLE = "link: [switch-left, switch-right]"
EVENTS = f"""\
events:
  - {{at: 1 s, {MIDDLE}, rate: 25 Gbit/s}}
  - {{at: 2 s, {MIDDLE}, down: true}}
  - {{at: 2500 ms, {MIDDLE}, rate: 100 Gbit/s}}
  - {{at: 3 s, link: [switch-right, switch-left], up: true}}
  - {{at: 3 s, link: [left0, switch-left], latency: 200 us}}

"""


def with_events(directory: Path, events: str = EVENTS, arm: str = "together: {}") -> Scenario:
    text = edited(SCENARIO, "arms:\n", events + "arms:\n")
    return load_scenario(write_scenario(directory, edited(text, "together: {}", arm)))


def refusal(directory: Path, events: str, arm: str = "together: {}") -> BadInputError:
    return refusal_of(directory / "scenario.yaml", with_events, directory, events, arm)


def events_of(scenario: Scenario, arm: str) -> tuple[LinkEvent, ...]:
    return next(each.events for each in scenario.arms if each.name == arm)


def test_events_come_in_their_order_with_the_rate_in_force(tmp_path: Path) -> None:
    events = events_of(with_events(tmp_path), "together")
    assert [event.change for event in events] == [
        Change.RATE,
        Change.DOWN,
        Change.RATE,
        Change.UP,
        Change.LATENCY,
    ]
    assert [event.at_s for event in events] == [1.0, 2.0, 2.5, 3.0, 3.0]
    assert [event.rate_bps for event in events] == [25e9, 0.0, 0.0, 100e9, 50e9]
    assert events[4].value == pytest.approx(200e-6)
    assert set(events[3].ports) == {
        Port("switch-left", "switch-right"),
        Port("switch-right", "switch-left"),
    }
    assert last_up_s(events) == 3.0


def test_an_event_reads_as_a_person_would_say_it(tmp_path: Path) -> None:
    assert [str(event) for event in events_of(with_events(tmp_path), "together")][::2] == [
        "switch-left-switch-right rate 25 Gbit/s",
        "switch-left-switch-right rate 100 Gbit/s",
        "left0-switch-left latency 200 µs",
    ]


@pytest.mark.parametrize(
    ("arm", "count"),
    [
        ("together: {}", 5),
        ("together: {events: []}", 0),
        (f"together:\n    events: [{{at: 9 s, {MIDDLE}, rate: 1 Gbit/s}}]", 1),
    ],
)
def test_an_arm_may_have_events_of_its_own(tmp_path: Path, arm: str, count: int) -> None:
    scenario = with_events(tmp_path, arm=arm)
    assert len(events_of(scenario, "together")) == count
    assert len(events_of(scenario, "fifo")) == 5


def test_the_fastest_cluster_has_the_greatest_rate_of_each_link(tmp_path: Path) -> None:
    arm = with_events(tmp_path).arms[0]
    found = fastest(arm.cluster, arm.events)
    assert found.rate_bps(Port("switch-left", "switch-right")) == 100e9
    assert found.rate_bps(Port("left0", "switch-left")) == 50e9
    assert fastest(arm.cluster, ()) is arm.cluster


@pytest.mark.parametrize(
    ("old", "new", "key", "problem", "allowed"),
    [
        ("[left0, switch-left]", "[left0, left1]", "events.4.link", "no link", "[left0, "),
        ("at: 2500 ms", "at: 500 ms", "events.2.at", "500 ms is before", "order"),
        ("rate: 100 Gbit/s", "down: true", "events.2.down", "down already", "'up'"),
        ("rate: 25 Gbit/s", "up: true", "events.0.up", "up already", "'down'"),
        ("up: true", "rate: 1 Gbit/s", "events.1.down", "stays down", "'up'"),
        (", rate: 25 Gbit/s", "", "events.0", "no kind", "'rate', 'down', 'up', 'latency'"),
        ("rate: 25 Gbit/s", "rate: 1 Gbit/s, up: true", "events.0", "'rate' and 'up'", "one of"),
        ("down: true", "down: false", "events.1.down", "False", "True"),
        ("latency: 200 us", "latency: 200", "events.4.latency", "no unit", "a time"),
        ("latency: 200 us", "loss: 1%", "events.4.loss", "unknown key", "latency"),
        ("at: 1 s, ", "", "events.0.at", "missing", "at, link"),
    ],
)
def test_a_bad_event_is_refused_where_it_stands(
    tmp_path: Path, old: str, new: str, key: str, problem: str, allowed: str
) -> None:
    error = refusal(tmp_path, edited(EVENTS, old, new))
    assert error.key == key
    assert problem in error.problem
    assert allowed in error.allowed
    assert error.line == line_of(SCENARIO, "arms:") + int(key.split(".")[1]) + 1


def test_a_bad_event_of_an_arm_is_refused_in_the_arm(tmp_path: Path) -> None:
    arm = f"together:\n    events: [{{at: 9 s, {MIDDLE}, up: true}}]"
    error = refusal(tmp_path, EVENTS, arm)
    assert error.key == "arms.together.events.0.up"
    assert error.line is not None
    assert error.line > line_of(SCENARIO, "arms:") + 6
