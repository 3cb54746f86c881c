"""Keys are checked, arms differ in some of them, and every error points at the line to change."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from tests.unit.builders import edited, line_of
from traces.errors import BadInputError
from traces.quantities import DurationS
from traces.scenario_file import Name, ScenarioFile, Strict


class WheelSpec(Strict):
    size: Annotated[int, Field(ge=1, le=9)]
    spokes: int = 8


class BodySpec(Strict):
    colour: Literal["red", "blue"] = "red"
    wheels: list[WheelSpec] = Field(default_factory=list)
    weights: dict[str, Annotated[float, Field(gt=0)]] = Field(default_factory=dict)
    spare: WheelSpec | None = None
    width: Literal["auto"] | Annotated[float, Field(ge=1)] = "auto"


class DriveSpec(Strict):
    """Goes forwards or backwards."""

    forwards: bool = True
    backwards: bool = False
    delay: DurationS = 0.0

    @model_validator(mode="after")
    def _one_way(self) -> DriveSpec:
        if self.forwards == self.backwards:
            raise ValueError("it has no direction|'forwards' or 'backwards'")
        return self


class ArmSpec(Strict):
    body: dict[str, object] = Field(default_factory=dict)
    drive: dict[str, object] = Field(default_factory=dict)


class CarSpec(Strict):
    name: Name
    body: BodySpec
    drive: DriveSpec = DriveSpec()
    arms: dict[Name, ArmSpec] = Field(default_factory=dict)


CAR = """\
name: car

body:
  colour: red
  wheels:
    - size: 3
    - size: 4
      spokes: 12
  weights: {front: 1, rear: 2}

arms:
  plain: {}
  other:
    body:
      colour: blue
      wheels:
        - {size: 5}
    drive: {delay: 3 s}
"""
HEAD = CAR[: CAR.index("arms:")]


def car(directory: Path, text: str = CAR) -> ScenarioFile[CarSpec]:
    file = directory / "car.yaml"
    file.write_text(text, encoding="utf-8")
    return ScenarioFile(ScenarioFile.read(file), CarSpec, ("body", "drive"))


def refusal(directory: Path, text: str) -> BadInputError:
    """Of the whole file: the base first, then arm by arm."""
    scenario = car(directory, text)
    with pytest.raises(BadInputError) as caught:
        [scenario.base(), *scenario.arms("car")]
    assert caught.value.file == directory / "car.yaml"
    return caught.value


def where_and_what(error: BadInputError) -> tuple[int | None, str | None, str]:
    return error.line, error.key, error.problem


def test_the_base_is_the_file_without_the_changes_of_its_arms(tmp_path: Path) -> None:
    base = car(tmp_path).base()
    assert (base.name, base.body.colour, base.drive) == ("car", "red", DriveSpec())
    assert [(wheel.size, wheel.spokes) for wheel in base.body.wheels] == [(3, 8), (4, 12)]


def test_an_arm_changes_single_keys_of_a_section_and_leaves_the_others(tmp_path: Path) -> None:
    arms = dict(car(tmp_path).arms("unused"))
    assert list(arms) == ["plain", "other"]
    assert arms["plain"].body == car(tmp_path).base().body
    other = arms["other"]
    assert (other.body.colour, other.drive.delay) == ("blue", 3.0)
    assert other.body.weights == {"front": 1, "rear": 2}


def test_a_key_that_an_arm_has_is_replaced_and_not_mixed(tmp_path: Path) -> None:
    text = edited(CAR, "colour: blue", "weights: {middle: 7}")
    other = dict(car(tmp_path, text).arms("unused"))["other"]
    assert other.body.weights == {"middle": 7}
    assert [wheel.size for wheel in other.body.wheels] == [5]


def test_the_changes_of_one_arm_do_not_reach_the_next(tmp_path: Path) -> None:
    text = CAR + "  last: {body: {width: 3}}\n"
    arms = dict(car(tmp_path, text).arms("unused"))
    assert (arms["last"].body.colour, arms["last"].body.width) == ("red", 3)
    assert arms["other"].body.width == "auto"


def test_an_arm_may_have_a_section_that_the_file_leaves_out(tmp_path: Path) -> None:
    text = edited(CAR, "drive: {delay: 3 s}", "drive: {forwards: false, backwards: true}")
    arms = dict(car(tmp_path, text).arms("unused"))
    assert (arms["plain"].drive.backwards, arms["other"].drive.backwards) == (False, True)


@pytest.mark.parametrize("arms", ["", "arms: {}\n"])
def test_without_arms_the_file_is_its_only_arm(tmp_path: Path, arms: str) -> None:
    scenario = car(tmp_path, HEAD + arms)
    assert list(scenario.arms("given")) == [("given", scenario.base())]


@pytest.mark.parametrize("text", ["", "- a\n", "car\n", "3\n"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "car.yaml"
    file.write_text(text)
    with pytest.raises(BadInputError) as caught:
        ScenarioFile.read(file)
    assert where_and_what(caught.value) == (1, None, "is not a scenario")
    assert caught.value.allowed == "a mapping of keys"


UNKNOWN = [
    # what is written, instead of what, key of the error, the keys that are allowed
    ("names: car", "name: car", "names", "name, body, drive, arms"),
    ("color: red", "colour: red", "body.color", "colour, wheels, weights, spare, width"),
    ("spoke: 12", "spokes: 12", "body.wheels.1.spoke", "size, spokes"),
    ("spare: {sizes: 1}", "colour: red", "body.spare.sizes", "size, spokes"),
    ("plain: {bodi: {}}", "plain: {}", "arms.plain.bodi", "body, drive"),
    ("color: blue", "colour: blue", "arms.other.body.color",
     "colour, wheels, weights, spare, width"),
    ("- {sizes: 5}", "- {size: 5}", "arms.other.body.wheels.0.sizes", "size, spokes"),
    ("drive: {wait: 3 s}", "drive: {delay: 3 s}", "arms.other.drive.wait",
     "forwards, backwards, delay"),
]  # fmt: skip


@pytest.mark.parametrize(("new", "old", "key", "allowed"), UNKNOWN, ids=[u[2] for u in UNKNOWN])
def test_an_unknown_key_is_shown_before_the_one_that_it_was_to_be(
    tmp_path: Path, new: str, old: str, key: str, allowed: str
) -> None:
    text = edited(CAR, old, new)
    error = refusal(tmp_path, text)
    assert where_and_what(error) == (line_of(text, new), key, "unknown key")
    assert error.allowed == allowed


@pytest.mark.parametrize("name", ["int", "str", "float", "constrained-body", "function-1"])
def test_the_name_of_an_arm_never_gets_lost_in_the_key(tmp_path: Path, name: str) -> None:
    text = CAR + f"  {name}:\n    drive: {{delays: 3 s}}\n"
    error = refusal(tmp_path, text)
    assert error.key == f"arms.{name}.drive.delays"
    assert error.line == line_of(text, "delays")


@pytest.mark.parametrize("name", ["int", "list[int]"])
def test_nor_does_any_other_key(tmp_path: Path, name: str) -> None:
    text = edited(CAR, "front: 1", f'"{name}": -1')
    error = refusal(tmp_path, text)
    assert (error.line, error.key) == (line_of(text, "weights"), f"body.weights.{name}")


BAD = [
    ("colour: pink", "colour: red", "body.colour", "'pink' is not known", "'red' or 'blue'"),
    ("size: 10", "size: 3", "body.wheels.0.size", "10 is not allowed here",
     "less than or equal to 9"),
    ("size: [3]", "size: 3", "body.wheels.0.size", "the value is not allowed here", "integer"),
    ("weights: {front: 0}", "weights: {front: 1, rear: 2}", "body.weights.front", "0 is not",
     "greater than 0"),
    ("weights: heavy", "weights: {front: 1, rear: 2}", "body.weights", "'heavy' is not",
     "dictionary"),
    ("width: thick", "colour: red", "body.width", "'thick' is not known", "'auto'"),
    ("width: {a: 1}", "colour: red", "body.width", "is not known", "'auto'"),
    ("width: [1]", "colour: red", "body.width", "is not known", "'auto'"),
    ("spare: {spokes: 3}", "colour: red", "body.spare.size", "the key is missing", "size, spokes"),
    ("delay: 3}", "delay: 3 s}", "arms.other.drive.delay", "3 has no unit", "'300 s'"),
    ('delay: "3|4"}', "delay: 3 s}", "arms.other.drive.delay", "'3|4' is not a number with",
     "a time"),
    ("name: The Car", "name: car", "name", "'The Car' is not a name", "lower-case letters"),
    ("Plain: {}", "plain: {}", "arms.Plain", "'Plain' is not a name", "lower-case letters"),
    ("drive: {forwards: no}", "drive: {delay: 3 s}", "arms.other.drive", "it has no direction",
     "'forwards' or"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("new", "old", "key", "problem", "allowed"), BAD, ids=[f"{bad[2]}={bad[0]}" for bad in BAD]
)
def test_a_bad_value_is_refused_where_it_stands(
    tmp_path: Path, new: str, old: str, key: str, problem: str, allowed: str
) -> None:
    text = edited(CAR, old, new)
    error = refusal(tmp_path, text)
    assert (error.line, error.key) == (line_of(text, new), key)
    assert problem in error.problem
    assert allowed in error.allowed


def test_a_missing_key_is_shown_at_its_parent(tmp_path: Path) -> None:
    text = edited(CAR, "- size: 4\n      spokes: 12", "- spokes: 12")
    error = refusal(tmp_path, text)
    assert where_and_what(error) == (
        line_of(text, "spokes: 12"), "body.wheels.1.size", "the key is missing"
    )  # fmt: skip
    assert error.allowed == "size, spokes"


def test_what_the_base_and_an_arm_make_wrong_together_is_shown_in_the_arm(
    tmp_path: Path,
) -> None:
    """The base goes forwards, and the arm backwards too."""
    text = edited(HEAD, "body:", "drive:\n  forwards: true\nbody:") + (
        "arms:\n  right: {}\n  both:\n    drive: {backwards: true}\n"
    )
    error = refusal(tmp_path, text)
    assert error.key == "arms.both.drive"
    assert error.line == line_of(text, "drive: {backwards")


def test_a_path_that_the_arm_changes_points_into_the_arm(tmp_path: Path) -> None:
    error = car(tmp_path).error("other", ("body", "colour"), "is ugly", "red")
    assert where_and_what(error) == (
        line_of(CAR, "colour: blue"), "arms.other.body.colour", "is ugly"
    )  # fmt: skip
    assert error.allowed == "red"


def test_deep_in_a_key_that_the_arm_replaces_too(tmp_path: Path) -> None:
    error = car(tmp_path).error("other", ("body", "wheels", 0, "size"), "is odd", "even ones")
    assert (error.line, error.key) == (
        line_of(CAR, "{size: 5}"), "arms.other.body.wheels.0.size"
    )  # fmt: skip


def test_a_path_that_it_does_not_change_points_at_the_base_and_names_the_arm(
    tmp_path: Path,
) -> None:
    error = car(tmp_path).error("plain", ("body", "colour"), "is ugly", "red")
    assert where_and_what(error) == (
        line_of(CAR, "colour: red"), "body.colour", "is ugly in arm 'plain'"
    )  # fmt: skip


def test_a_path_that_is_nowhere_points_at_the_nearest_parent(tmp_path: Path) -> None:
    scenario = car(tmp_path)
    assert scenario.error("plain", ("body", "width"), "x", "y").line == 3
    assert scenario.error("plain", ("drive", "delay"), "x", "y").line == 1


def test_without_arms_none_is_named(tmp_path: Path) -> None:
    error = car(tmp_path, HEAD).error("car", ("body", "colour"), "is ugly", "red")
    assert where_and_what(error) == (line_of(HEAD, "colour"), "body.colour", "is ugly")


def test_an_error_that_knows_its_key_is_given_its_line(tmp_path: Path) -> None:
    scenario = car(tmp_path)
    bare = BadInputError("is ugly", allowed="red", key="body.colour")
    assert where_and_what(scenario.locate(bare, "other")) == (
        line_of(CAR, "colour: blue"), "arms.other.body.colour", "is ugly"
    )  # fmt: skip
    assert where_and_what(scenario.locate(bare, "plain")) == (
        line_of(CAR, "colour: red"), "body.colour", "is ugly in arm 'plain'"
    )  # fmt: skip
    deep = BadInputError("is odd", allowed="even ones", key="body.wheels.1.spokes")
    assert where_and_what(scenario.locate(deep, "plain"))[:2] == (
        line_of(CAR, "spokes: 12"), "body.wheels.1.spokes"
    )  # fmt: skip
    located = scenario.locate(bare)
    assert where_and_what(located) == (line_of(CAR, "colour: red"), "body.colour", "is ugly")
    assert (located.file, located.allowed) == (tmp_path / "car.yaml", "red")
