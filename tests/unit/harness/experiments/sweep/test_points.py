"""What --vary may say, what comes of it, and what is refused."""

from __future__ import annotations

import pytest

from harness.experiments.sweep.points import (
    Value,
    Variation,
    canonical,
    cell,
    combinations,
    parse_variation,
    with_values,
)
from traces.errors import BadInputError


@pytest.mark.parametrize(
    ("text", "path", "values"),
    [
        ("scheduler.policy=fifo,srtf", ("scheduler", "policy"), ("fifo", "srtf")),
        ("a.b=0.5..1.0:6", ("a", "b"), (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)),
        ("cluster.rate=10..50 Gbit/s:5", ("cluster", "rate"),
         ("10 Gbit/s", "20 Gbit/s", "30 Gbit/s", "40 Gbit/s", "50 Gbit/s")),
        ("a.b=1..2 s:3", ("a", "b"), ("1 s", "1.5 s", "2 s")),
        ("a.servers=4..16:4", ("a", "servers"), (4, 8, 12, 16)),
        ("a.b=1..2:3", ("a", "b"), (1.0, 1.5, 2.0)),
        ("a.b=2..-2:3", ("a", "b"), (2, 0, -2)),
        ("a.b=1e3..2e3 s:2", ("a", "b"), ("1000 s", "2000 s")),
        ("a.b=7, 1..2:2 ,0.5", ("a", "b"), (7, 1, 2, 0.5)),
        ("a.dedicated=true,false", ("a", "dedicated"), (True, False)),
        ("a.placement=null,balanced", ("a", "placement"), (None, "balanced")),
        ("workload.jobs.1.iterations=5", ("workload", "jobs", 1, "iterations"), (5,)),
        ("workload.trace=../jobs.csv", ("workload", "trace"), ("../jobs.csv",)),
        ("a.b='1,2'", ("a", "b"), None),
    ],
)  # fmt: skip
def test_values_are_scalars_as_in_the_file_and_inclusive_ranges(
    text: str, path: tuple[str | int, ...], values: tuple[Value, ...] | None
) -> None:
    if values is None:
        with pytest.raises(BadInputError, match="is no value"):
            parse_variation(text)
        return
    found = parse_variation(text)
    assert (found.path, found.values) == (path, values)
    assert [type(value) for value in found.values] == [type(value) for value in values]
    assert found.key == text.partition("=")[0]


@pytest.mark.parametrize(
    ("text", "problem", "allowed"),
    [
        ("scheduler.policy", "is no key with values", "scheduler.policy=fifo,srtf"),
        ("scheduler..policy=fifo", "is no key with values", "scheduler.policy=fifo,srtf"),
        ("=fifo", "is no key with values", "scheduler.policy=fifo,srtf"),
        ("a.b=", "is no value", "numbers, words"),
        ("a.b=1,,2", "is no value", "numbers, words"),
        ("a.b=[1]", "is no value", "numbers, words"),
        ("a.b=x: y", "is no value", "numbers, words"),
        ("a.b={", "is no value", "numbers, words"),
        ("a.b=.nan", "is no value", "numbers, words"),
        ("a.b=2020-01-01", "is no value", "numbers, words"),
        ("a.b=2020-13-41", "is no value", "numbers, words"),
        ("a.b=0.5..1.0", "is no range", "FIRST..LAST:COUNT"),
        ("a.b=0.5..1.0:1", "is no range", "two values or more"),
        ("a.b=0.5..1.0:100001", "is no range", "FIRST..LAST:COUNT"),
        ("a.b=10 Gbit/s..50 Gbit/s:5", "is no range", "10..50 Gbit/s:5"),
        ("a.b=1,1.0", "has a value twice", "each once"),
        ("a.b=2..2:2", "has a value twice", "each once"),
        ("seed=1,2", "'seed' is not varied", "--seeds"),
        ("seeds=1,2", "'seeds' is not varied", "--seeds"),
        ("name=a,b", "'name' is not varied", "changes what is run"),
    ],
)
def test_what_is_neither_is_refused(text: str, problem: str, allowed: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_variation(text)
    assert problem in caught.value.problem
    assert allowed in caught.value.allowed
    assert str(caught.value.key).startswith("--vary")


def test_all_combinations_the_last_key_changes_fastest() -> None:
    found = combinations([Variation(("a", "b"), (1, 2)), Variation(("c", 0), ("x", "y"))])
    assert found == [
        {"a.b": 1, "c.0": "x"},
        {"a.b": 1, "c.0": "y"},
        {"a.b": 2, "c.0": "x"},
        {"a.b": 2, "c.0": "y"},
    ]


def test_too_many_combinations_and_a_key_twice_are_refused() -> None:
    many = tuple(range(1000))
    with pytest.raises(BadInputError, match="that is 1,000,000 points"):
        combinations([Variation(("a",), many), Variation(("b",), many)])
    with pytest.raises(BadInputError, match="varied twice"):
        combinations([Variation(("a",), (1,)), Variation(("a",), (2,))])


def changed(data: dict[str, object], text: str, value: Value) -> dict[str, object]:
    variation = parse_variation(text)
    return with_values(data, [variation], {variation.key: value})


def test_values_are_set_and_the_scenario_stays_as_it_is() -> None:
    data: dict[str, object] = {"a": {"b": 1}, "jobs": [{"n": 1}, {"n": 2}], "empty": None}
    before = canonical(data)
    assert changed(data, "a.b=5", 5) == {**data, "a": {"b": 5}}
    assert changed(data, "jobs.1.n=5", 5) == {**data, "jobs": [{"n": 1}, {"n": 5}]}
    assert changed(data, "jobs.0=5", 5) == {**data, "jobs": [5, {"n": 2}]}
    assert changed(data, "new.section.b=5", 5) == {**data, "new": {"section": {"b": 5}}}
    assert changed(data, "empty.b=5", 5) == {**data, "empty": {"b": 5}}
    assert canonical(data) == before


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a.b.c=5", "'a.b' is a value"),
        ("jobs.2.n=5", "there is no item 2 in the list"),
        ("jobs.2=5", "there is no item 2 in the list"),
        ("jobs.first.n=5", "there is no item 'first' in the list"),
    ],
)
def test_a_way_that_leads_nowhere_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadInputError) as caught:
        changed({"a": {"b": 1}, "jobs": [{"n": 1}, {"n": 2}]}, text, 5)
    assert problem in caught.value.problem
    assert caught.value.key == f"--vary {text.partition('=')[0]}"


@pytest.mark.parametrize(
    ("values", "kind", "cells"),
    [
        ((1, 2.5, None), "number", [1.0, 2.5, None]),
        ((True, None), "flag", [True, None]),
        (("a", "b"), "text", ["a", "b"]),
        (("auto", 2, True), "text", ["auto", "2", "true"]),
        ((True, 2), "text", ["true", "2"]),
        ((None,), "text", [None]),
    ],
)
def test_a_column_has_one_type(values: tuple[Value, ...], kind: str, cells: list[Value]) -> None:
    variation = Variation(("a",), values)
    assert variation.kind == kind
    assert [cell(value, variation.kind) for value in values] == cells


def test_the_same_content_is_the_same_whatever_its_order_and_form() -> None:
    assert canonical({"a": 1, "b": [2.0]}) == canonical({"b": [2], "a": 1.0})
    assert canonical({"a": 1}) != canonical({"a": True})
    assert canonical({"a": 1}) != canonical({"a": "1"})
