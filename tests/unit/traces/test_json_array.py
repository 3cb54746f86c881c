"""An array is read object by object: whole ones, with their lines; what is unsound is refused."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.formats import json_array
from traces.formats.json_array import Element, beginning_of, source_of, stream_objects

OBJECTS = [{"id": f"é{number}", "list": [number, None, {"a": 1.5}]} for number in range(40)]
TEXT = json.dumps(OBJECTS, indent=1, ensure_ascii=False)
LINES = [2 + 10 * number for number in range(40)]


def read(directory: Path, text: str | bytes, share: float = 1.0) -> list[Element]:
    file = directory / "array.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(stream_objects(file, share))


def refusal(directory: Path, text: str | bytes, share: float = 1.0) -> BadInputError:
    return refusal_of(directory / "array.json", read, directory, text, share)


@pytest.mark.parametrize("chunk_bytes", [1, 7, 500, 2**20])
def test_objects_come_whole_and_with_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_bytes: int
) -> None:
    monkeypatch.setattr(json_array, "_CHUNK_BYTES", chunk_bytes)
    wanted = list(zip(OBJECTS, LINES, strict=True))
    for text in (TEXT, "\ufeff" + TEXT, TEXT.replace("\n", "\r\n") + " \n"):
        assert read(tmp_path, text) == wanted
        assert read(tmp_path, gzip.compress(text.encode())) == wanted
    assert [line for _, line in read(tmp_path, json.dumps(OBJECTS))] == [1] * 40
    assert read(tmp_path, " [ ] ") == []


@pytest.mark.parametrize("share", [0.001, 0.1, 0.33, 0.5, 0.999])
def test_a_share_has_the_objects_that_begin_in_it(tmp_path: Path, share: float) -> None:
    data = TEXT.encode()
    begins = [place + 2 for place in range(len(data)) if data.startswith(b"\n {", place)]
    wanted = sum(begin < math.ceil(len(data) * share) for begin in begins)
    assert len(read(tmp_path, data, share)) == wanted


def test_what_is_unsound_behind_a_share_does_not_matter(tmp_path: Path) -> None:
    unsound = TEXT[:4000] + "x" + TEXT[4000:]
    assert refusal(tmp_path, unsound).line is not None
    assert len(read(tmp_path, unsound, 0.1)) == len(read(tmp_path, TEXT, 0.1)) > 0
    assert source_of(tmp_path / "array.json", 0.1).startswith("array.json, SHA-256 of its first ")


def test_a_packed_file_is_read_whole_or_refused(tmp_path: Path) -> None:
    packed = gzip.compress(TEXT.encode())
    assert refusal(tmp_path, packed, 0.5).problem == "a part of a packed file cannot be read"
    assert refusal(tmp_path, packed[:-9]).problem == "the packed file ends too early"
    assert refusal(tmp_path, packed[:30] + b"x" + packed[30:]).problem.startswith("cannot be unp")
    assert beginning_of(packed[:200]).startswith("[")
    assert beginning_of(packed[:2] + b"other") == ""


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "the document ends too early"),
        ("{}", 1, "'{' stands where '[' has to"),
        ("[\n3]", 2, "there is no object"),
        ("[\n\n", 3, "there is no object"),
        ('[{"a": 1}', 1, "the document ends too early"),
        ('[{"a": 1}\n {}]', 2, "'{' stands where ',' or ']' has to"),
        ("[{},\n]", 2, "there is no object"),
        ("[{}]\n]", 2, "there is more after the array"),
        ('[{},\n{"a": ' + "[" * 100_000, 2, "is nested too deeply"),
    ],
)
def test_what_is_no_array_of_objects_is_refused(
    tmp_path: Path, text: str, line: int, problem: str
) -> None:
    error = refusal(tmp_path, text)
    assert (error.line, error.problem) == (line, problem)


@pytest.mark.parametrize("wrong", ["nul", "1,", "NaN", "-Infinity", '"\t"', "9" * 5000, '"\\x"'])
def test_an_unsound_value_is_refused(tmp_path: Path, wrong: str) -> None:
    error = refusal(tmp_path, f'[{{}},\n{{"a": {wrong}}}]')
    assert error.line == 2
    assert error.problem.startswith("is not sound JSON, or an object larger than 16 MiB: ")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, b'[{"a":\n"\xff"}]')
    assert (error.line, error.problem) == (2, "is not UTF-8 text")


def test_an_object_and_a_document_have_a_largest_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_array, "_CHUNK_BYTES", 7)
    monkeypatch.setattr(json_array, "MAX_MEMBER_BYTES", 30)
    assert "larger than" in refusal(tmp_path, TEXT).problem
    monkeypatch.setattr(json_array, "MAX_MEMBER_BYTES", 2**24)
    monkeypatch.setattr(json_array, "MAX_TEXT_BYTES", 100)
    assert refusal(tmp_path, TEXT).problem == "the document is too large"


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(0, 200), st.integers(0, 9), st.text(st.sampled_from('[]{},:"\\ 0aé'), max_size=4)
)
def test_an_edited_array_is_read_as_json_reads_it_or_refused(
    tmp_path: Path, place: int, cut: int, put: str
) -> None:
    text = TEXT[:place] + put + TEXT[place + cut :]
    try:
        wanted = json.loads(text)
    except ValueError:
        wanted = None
    if isinstance(wanted, list) and all(isinstance(each, dict) for each in wanted):
        assert [value for value, _ in read(tmp_path, text)] == wanted
    else:
        assert refusal(tmp_path, text).line is not None
