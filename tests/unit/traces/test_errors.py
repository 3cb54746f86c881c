"""One line that says where, what, and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from traces.errors import (
    BadInputError,
    EmulationError,
    MissingCapabilityError,
    RoundelayError,
    shown,
)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ({}, "it is wrong; allowed: right"),
        ({"file": Path("a.yaml")}, "a.yaml: it is wrong; allowed: right"),
        ({"file": "a.yaml", "line": 3}, "a.yaml:3: it is wrong; allowed: right"),
        ({"file": "a.yaml", "line": 3, "key": "k"}, "a.yaml:3: k: it is wrong; allowed: right"),
        ({"key": "--link"}, "--link: it is wrong; allowed: right"),
    ],
)
def test_bad_input_says_where_as_far_as_it_is_known(where: dict[str, object], text: str) -> None:
    assert str(BadInputError("it is wrong", allowed="right", **where)) == text  # type: ignore[arg-type]


def test_missing_capability_says_how_to_get_it() -> None:
    assert str(MissingCapabilityError("no ip", remedy="install it")) == "no ip; install it"


@pytest.mark.parametrize(
    ("kind", "code"),
    [(RoundelayError, 1), (EmulationError, 1), (BadInputError, 2), (MissingCapabilityError, 3)],
)
def test_every_error_has_its_exit_code(kind: type[RoundelayError], code: int) -> None:
    assert kind.exit_code == code


def test_of_a_long_value_the_beginning_is_shown() -> None:
    assert shown("x" * 60) == repr("x" * 60)
    assert shown("x" * 61) == repr("x" * 60 + "...")
    assert shown([0] * 20) == repr([0] * 20)
    assert shown([0] * 21) == f"{repr([0] * 21)[:60]}..."
