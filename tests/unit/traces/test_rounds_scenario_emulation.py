"""What a scenario of rounds says of its emulation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.builders import ROUNDS_SCENARIO, edited
from tests.unit.traces.rounds_scenarios import TUNE, arms_of, refusal, scenario_of
from traces.errors import BadInputError

EMULATION = """
emulation:
  duration: 20 min
  stride: 10
  cpu_divisor: auto
  work: jpeg
  commands: {lstm: [python3, train.py]}
"""


def test_emulation_has_defaults_and_an_arm_may_change_it(tmp_path: Path) -> None:
    changed = edited(ROUNDS_SCENARIO, TUNE, f"{TUNE}\n    emulation: {{work: jpeg}}")
    arms = arms_of(tmp_path, changed)
    assert (arms["tune"].emulation.work, arms["proportional"].emulation.work) == ("jpeg", "hash")
    assert arms["tune"].emulation.duration == 720
    assert arms["tune"].emulation.stride == "auto"


def test_emulation_is_read_whole(tmp_path: Path) -> None:
    found = arms_of(tmp_path, ROUNDS_SCENARIO + EMULATION)["tune"].emulation
    assert (found.duration, found.stride, found.cpu_divisor) == (1200, 10, "auto")
    assert (found.work, found.commands) == ("jpeg", {"lstm": ["python3", "train.py"]})


@pytest.mark.parametrize(
    ("line", "key", "problem", "allowed"),
    [
        ("stride: 0.5", "stride", "0.5 is not allowed", "'auto', or a number of at least 1"),
        ("byte_divisor: much", "byte_divisor", "'much' is not allowed", "'auto', or a number"),
        ("duration: 0 s", "duration", "'0 s' is not allowed", "greater than 0"),
        ("duration: 10", "duration", "10 has no unit", "such as '300 s'"),
        ("work: sleep", "work", "'sleep' is not known", "'hash' or 'jpeg'"),
        ("strid: 2", "strid", "unknown key", "duration, stride, cpu_divisor, byte_divisor, work"),
        ("commands: {vgg: [a]}", "commands.vgg", "there is no model 'vgg'", "alexnet, res18"),
        ("commands: {lstm: []}", "commands.lstm", "the value is not allowed", "at least 1 item"),
        ("commands: {lstm: a b}", "commands.lstm", "'a b' is not allowed", "a valid list"),
        ('commands: {lstm: ["a\\0"]}', "commands.lstm.0", "a zero byte", "text without it"),
    ],
)  # fmt: skip
def test_emulation_that_is_no_good_is_refused(
    line: str, key: str, problem: str, allowed: str, tmp_path: Path
) -> None:
    text = f"{ROUNDS_SCENARIO}emulation:\n  {line}\n"
    error = refusal(tmp_path, text)
    assert error.key == f"emulation.{key}"
    assert error.line == len(text.splitlines())
    assert problem in error.problem
    assert allowed in error.allowed


def test_a_timeline_has_to_be_a_stretch(tmp_path: Path) -> None:
    text = f"{ROUNDS_SCENARIO}emulation:\n  timeline_from: 2 h\n  timeline_until: 1 h\n"
    with pytest.raises(BadInputError, match="timeline_until must be later") as caught:
        scenario_of(tmp_path, text)
    assert caught.value.key == "emulation"
