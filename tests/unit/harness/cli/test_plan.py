"""plan prints the commands of a run, the same for the same run id, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emulator.networks import plan_arm
from harness.experiments.run import scale_of
from tests.unit.builders import SCENARIO, line_of, write_scenario
from tests.unit.harness.cli.conftest import Roundelay
from traces.scenario import load_scenario

RUN = ("--run-id", "byhand")


def test_the_same_run_id_gives_the_same_text(roundelay: Roundelay, tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    first, second = roundelay("plan", file, *RUN), roundelay("plan", file, *RUN)
    assert first.exit_code == 0
    assert first.stdout == second.stdout
    assert roundelay("plan", file, "--run-id", "other").stdout != first.stdout


def test_the_text_is_the_commands_with_comments_between(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    file = write_scenario(tmp_path)
    lines = roundelay("plan", file, *RUN).stdout.splitlines()
    assert lines[0].startswith("# scale: links ")
    arms = [line.removeprefix("# arm ") for line in lines if line.startswith("# arm ")]
    assert arms == ["dedicated", "together", "shifted", "fifo"]
    commands = [line for line in lines if not line.startswith("#")]
    assert {line.split()[0] for line in commands} == {"ip", "tc"}
    assert all("byhand" in line for line in commands)


def test_it_is_what_a_run_would_execute(roundelay: Roundelay, tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    scenario = load_scenario(file)
    scale = scale_of(scenario)
    expected, first_network = [], 0
    for arm in scenario.arms:
        networks = plan_arm(arm, scale, "byhand", first_network)
        first_network += len(networks)
        expected += [str(command) for one in networks for command in one.plan.commands]
    lines = roundelay("plan", file, *RUN).stdout.splitlines()
    assert [line for line in lines if not line.startswith("#")] == expected


def test_one_arm_is_planned_as_within_the_whole(roundelay: Roundelay, tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    whole = roundelay("plan", file, *RUN).stdout
    one = roundelay("plan", file, "--arm", "fifo", *RUN).stdout
    assert "# arm fifo" in one
    assert "# arm together" not in one
    assert one.partition("# arm fifo\n")[2] == whole.partition("# arm fifo\n")[2]


def test_an_unknown_arm_is_refused_with_the_known_ones(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    result = roundelay("plan", write_scenario(tmp_path), "--arm", "fofo")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "allowed: dedicated, together, shifted, fifo" in result.stderr


def test_json_has_the_same_commands(roundelay: Roundelay, tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    document = json.loads(roundelay("plan", file, "--json", *RUN).stdout)
    text = roundelay("plan", file, *RUN).stdout
    assert document["run_id"] == "byhand"
    assert document["scale"]["rate_divisor"] > 1
    commands = [command for arm in document["arms"] for command in arm["commands"]]
    assert commands == [line for line in text.splitlines() if not line.startswith("#")]


def test_without_a_run_id_each_plan_has_its_own(roundelay: Roundelay, tmp_path: Path) -> None:
    file = write_scenario(tmp_path)
    ids = {json.loads(roundelay("plan", file, "--json").stdout)["run_id"] for _ in range(3)}
    assert len(ids) == 3


def test_a_harmful_scale_is_warned_of_beside_the_text(roundelay: Roundelay, tmp_path: Path) -> None:
    text = write_scenario(tmp_path).read_text() + "scale: {rate_divisor: 2e4}\n"
    result = roundelay("plan", write_scenario(tmp_path, text), *RUN)
    assert result.exit_code == 0
    assert "warning: the smallest transfer is" in result.stderr
    assert "warning" not in result.stdout


def test_planning_needs_neither_root_nor_tools(
    roundelay: Roundelay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert roundelay("plan", write_scenario(tmp_path), *RUN).exit_code == 0
    assert not (tmp_path / "state").exists()


def test_events_are_comments_with_their_times_and_commands(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    event = "{at: 1500 ms, link: [switch-left, switch-right], rate: 25 Gbit/s}"
    file = write_scenario(tmp_path, f"{SCENARIO}events: [{event}]\n")
    text = roundelay("plan", file, "--arm", "together", *RUN).stdout
    lines = text.splitlines()
    at = lines.index("# 1.5 s after the start: n2: switch-left-switch-right rate 25 Gbit/s")
    assert all(line.startswith("#   tc -n roundelay-byhand-n2-switch-") for line in lines[at + 1 :])
    assert sum("class change" in line for line in lines) == len(lines) - at - 1 == 8
    (arm,) = json.loads(roundelay("plan", file, "--arm", "together", *RUN, "--json").stdout)["arms"]
    (found,) = arm["events"]
    assert [f"#   {command}" for command in found["commands"]] == lines[at + 1 :]


DIVIDED = """\
name: divided
cluster: {preset: single-switch, servers: 3, rate: 50 Gbit/s, gpus: 2, cpus: 12, memory: 125 GB}
workload:
  jobs: [{id: image, profile: vgg16, workers: 3, input_pipeline: res18}]
scheduler: {placement: themis, mechanism: tune}
arms:
  computing: {}
  reading:
    workload:
      jobs: [{id: image, profile: vgg16, workers: 3, input_pipeline: m5}]
"""


def test_an_arm_whose_pipeline_would_read_is_refused_where_it_stands(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    result = roundelay("plan", write_scenario(tmp_path, DIVIDED), *RUN)
    assert result.exit_code == 2
    line = line_of(DIVIDED, "input_pipeline: m5")
    assert f"scenario.yaml:{line}: arms.reading.workload.jobs.0.input_pipeline" in result.stderr
    assert "what placed jobs read is not emulated" in result.stderr


def test_the_share_of_a_gpu_and_what_a_cpu_is_here_are_told(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    text = DIVIDED.partition("  reading:")[0]
    lines = roundelay("plan", write_scenario(tmp_path, text), *RUN).stdout.splitlines()
    assert "# a GPU's share: 6 CPUs, 62.5 GB" in lines
    assert any(line.startswith("# CPUs: one is ") for line in lines)
