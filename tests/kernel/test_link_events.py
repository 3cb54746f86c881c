"""Links that change while jobs run: what the kernel does, and what the simulator said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from emulator.kernel_features import traffic_control
from tests.kernel.command import arm, roundelay, trusted_run
from tests.kernel.machine import namespaces

SCENARIO = """\
name: changes
cluster:
  preset: dumbbell
  servers_left: 2
  servers_right: 2
  rate: 50 Gbit/s
workload:
  iterations: 9
  warmup_iterations: 2
  jobs:
    - {id: first, profile: vgg19, servers: [left0, right0]}
    - {id: second, profile: vgg19, servers: [left1, right1]}
arms:
  slower:
    transport: {ecn_threshold: 20 kB}
    events:
      - {at: 1.2 s, link: [switch-left, switch-right], rate: 25 Gbit/s}
      - {at: 2.5 s, link: [switch-left, switch-right], rate: 50 Gbit/s}
  outage:
    events:
      - {at: 1.2 s, link: [switch-left, switch-right], down: true}
      - {at: 1.9 s, link: [switch-left, switch-right], up: true}
"""
LATENCY = "events: [{at: 0.1 s, link: [switch-left, switch-right], latency: 200 us}]\n"


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    directory = tmp_path_factory.mktemp("changes")
    scenario = directory / "changes.yaml"
    scenario.write_text(SCENARIO)
    found = trusted_run(scenario, directory)
    found["directory"] = max(directory.glob("run-*"))
    return found


@pytest.mark.parametrize("name", ["slower", "outage"])
def test_the_simulator_predicts_a_change(summary: dict[str, Any], name: str) -> None:
    assert abs(arm(summary, name)["difference"]["mean"]) <= 0.05
    assert abs(arm(summary, name)["difference"]["p99"]) <= 0.05


@pytest.mark.parametrize("name", ["slower", "outage"])
def test_every_event_is_made_at_its_time(summary: dict[str, Any], name: str) -> None:
    events = arm(summary, name)["events"]
    assert len(events) == 2
    for event in events:
        (made,) = event["made"]
        assert event["at_s"] <= made["begun_s"] <= made["done_s"] <= event["at_s"] + 0.1


def test_what_crosses_the_link_follows_its_rate(summary: dict[str, Any]) -> None:
    links = pd.read_parquet(summary["directory"] / "emulated" / "links.parquet")
    middle = links[links.port == "switch-left->switch-right"]
    total = middle.groupby(["arm", "t_s"]).rate_bps.sum()
    # Over five samples: when one is read late, the next stretch seems shorter than it was.
    slower, outage = (total[arm].rolling(5).mean() for arm in ("slower", "outage"))
    assert slower[slower.index < 1.2].max() > 45e9
    assert slower[(slower.index > 1.35) & (slower.index < 2.5)].max() < 27e9
    assert outage[(outage.index > 1.35) & (outage.index < 1.9)].mean() < 1e9
    assert outage[outage.index > 1.9].max() > 45e9


def test_events_stand_in_the_timeline(summary: dict[str, Any]) -> None:
    for side in ("emulated", "simulated"):
        trace = json.loads((summary["directory"] / side / "timeline.json").read_text())
        names = [event["name"] for event in trace["traceEvents"] if event["ph"] == "i"]
        assert len(names) == 4
        assert any(name.endswith("switch-left-switch-right down") for name in names)


def test_latency_without_netem_is_refused_before_anything_is_built(tmp_path: Path) -> None:
    features = traffic_control()
    assert features is not None
    if features["netem"]:
        pytest.skip("this kernel has netem")
    scenario = tmp_path / "latency.yaml"
    scenario.write_text(SCENARIO[: SCENARIO.index("arms:")] + LATENCY)
    done = roundelay("emulate", scenario, "-o", tmp_path / "out", "--run-id", "t3stlate")
    assert done.returncode == 3
    assert "no netem" in done.stderr
    assert "CONFIG_NET_SCH_NETEM" in done.stderr
    assert namespaces("t3stlate") == []


def test_a_switch_marks_at_every_rate_of_its_link(summary: dict[str, Any]) -> None:
    """In every iteration both jobs meet there; a marker of another rate would mark nearly all of
    the packets, or none."""
    links = pd.read_parquet(summary["directory"] / "emulated" / "links.parquet")
    middle = links[(links.arm == "slower") & (links.port == "switch-left->switch-right")]
    for start_s, end_s in ((0.0, 1.2), (1.3, 2.5), (2.6, 3.6)):
        during = middle[(middle.t_s > start_s) & (middle.t_s < end_s)]
        assert 0.02 < during.marked_packets.sum() / during.sent_packets.sum() < 0.5
