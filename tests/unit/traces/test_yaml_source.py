"""Lines for every key, and an error with a line for everything that is not one sound document."""

from __future__ import annotations

from pathlib import Path

import pytest

from traces import yaml_source
from traces.errors import BadInputError
from traces.yaml_source import read_yaml

DOCUMENT = """\
# a comment
name: x
jobs:
  - id: one
    servers: [a, b]
  - id: two
inline: {deep: {value: 3}}
"""


def write(directory: Path, text: str | bytes) -> Path:
    file = directory / "input.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def refused(directory: Path, text: str | bytes) -> BadInputError:
    file = write(directory, text)
    with pytest.raises(BadInputError) as caught:
        read_yaml(file)
    assert caught.value.file == file
    assert caught.value.allowed
    return caught.value


def test_plain_data_come_out(tmp_path: Path) -> None:
    assert read_yaml(write(tmp_path, DOCUMENT)).data == {
        "name": "x",
        "jobs": [{"id": "one", "servers": ["a", "b"]}, {"id": "two"}],
        "inline": {"deep": {"value": 3}},
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("name",), 2),
        (("jobs",), 3),
        (("jobs", 0), 4),
        (("jobs", 0, "servers", 1), 5),
        (("jobs", 1, "id"), 6),
        (("inline", "deep", "value"), 7),
        (("jobs", 1, "servers", 4), 6),
        (("absent",), 2),
    ],
)
def test_every_key_has_its_line_and_an_absent_one_its_parents(
    tmp_path: Path, path: tuple[str | int, ...], line: int
) -> None:
    assert read_yaml(write(tmp_path, DOCUMENT)).line_of(path) == line


def test_an_empty_file_is_an_empty_document(tmp_path: Path) -> None:
    source = read_yaml(write(tmp_path, ""))
    assert source.data is None
    assert source.line_of(("x",)) is None


def test_aliases_are_expanded(tmp_path: Path) -> None:
    source = read_yaml(write(tmp_path, "a: &x {k: 1}\nb: *x\n"))
    assert source.data == {"a": {"k": 1}, "b": {"k": 1}}


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "stands twice"),
        ("a:\n  b: 1\n  b: 2\n", 3, "stands twice"),
        ("a: 1\n[x, y]: 2\n", 2, "a key is not a word"),
        ("a: 1\n{x: y}: 2\n", 2, "a key is not a word"),
        ("a: [1\n", 2, "is not YAML"),
        ("\ta: 1\n", 1, "is not YAML"),
        ("a: *missing\n", 1, "undefined alias"),
        ("a: 1\n---\nb: 2\n", 2, "another document"),
        ("a: 2020-13-45\n", 1, "cannot be read"),
        ("a: 1\nb: !!python/name:os.system x\n", 2, "cannot be read"),
        ("a: 1\nb: !mine x\n", 2, "cannot be read"),
    ],
)
def test_an_unsound_document_is_refused_at_its_line(
    tmp_path: Path, text: str, line: int, problem: str
) -> None:
    error = refused(tmp_path, text)
    assert (error.line, problem in error.problem) == (line, True), str(error)


def test_a_duplicate_key_is_named_with_its_path(tmp_path: Path) -> None:
    assert refused(tmp_path, "a:\n  - b: 1\n    b: 2\n").key == "a.0.b"


def test_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    assert "UTF-8" in refused(tmp_path, "name: caf\xe9".encode("latin-1")).problem


@pytest.mark.parametrize("depth", [100, 600])
def test_a_document_nested_without_end_is_refused(tmp_path: Path, depth: int) -> None:
    refused(tmp_path, "a: " + "[" * depth + "]" * depth)


def test_a_document_that_contains_itself_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "a: &a\n  - *a\n").line == 1


def test_an_alias_bomb_is_refused_before_it_expands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_source, "MAX_NODES", 2000)
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9)]
    bomb = "l0: &l0 [x]\n" + "\n".join(levels) + "\n"
    assert "expands too far" in refused(tmp_path, bomb).problem


def test_as_many_values_as_allowed_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_source, "MAX_NODES", 12)
    read_yaml(write(tmp_path, "a: [" + ", ".join("1" * 10) + "]\n"))
    refused(tmp_path, "a: [" + ", ".join("1" * 11) + "]\n")


def test_a_file_that_is_too_large_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_source, "MAX_FILE_BYTES", 10)
    assert "too large" in refused(tmp_path, "name: 12345\n").problem
    read_yaml(write(tmp_path, "name: 123\n"))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "absent.yaml"):
        with pytest.raises(BadInputError, match="cannot be read"):
            read_yaml(place)


def test_a_control_character_is_not_called_deep_nesting(tmp_path: Path) -> None:
    assert "nested" not in refused(tmp_path, "name: a\x01b\n").problem
