"""Kineto: files that are no sound trace, or from which no demand can be told, are refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.unit.refusal import refusal_of
from tests.unit.traces.communication import real_files
from tests.unit.traces.formats.kineto_trace import Trace, import_kineto, overlapped
from traces.errors import BadInputError
from traces.formats import json_stream, kineto_events


def refusal(file: Path) -> BadInputError:
    error = refusal_of(file, import_kineto, file)
    assert error.allowed
    return error


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"   \n ", "ends too early"),
        (b"\x1f\x8b", "packed file ends too early"),
        (b"\x1f\x8bnot gzip at all", "cannot be unpacked"),
        (b"<html></html>", "not sound JSON"),
        (b"\xff\xfe{", "not sound JSON"),
        (b'{"traceEvents": [{"ts": NaN}]}', "not sound JSON"),
        (b'{"traceEvents": [{"ts": 1' + b"0" * 5000 + b"}]}", "not sound JSON"),
        (b'{"traceEvents": [{"ts": 1e99999999999999999999}]}', "not sound JSON"),
        (b'{"a": 1}', "has no events"),
        (b'{"traceEvents": 3}', "has no events"),
        (b"[]", "has no events"),
        (b'{"traceEvents": [3]}', "not an object"),
        (b'{"traceEvents": [' + b"[" * 200, "the nesting is larger than 100 levels"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, problem: str) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(content)
    assert problem in str(refusal(file))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert "No such file" in str(refusal(tmp_path / "none.json"))
    assert "directory" in str(refusal(tmp_path))


def test_truncated_files_say_the_line(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    text = json.dumps(trace.document(), indent=1).encode()
    plain, packed = tmp_path / "cut.json", tmp_path / "cut.json.gz"
    beginning = text[: text.rindex(b'"dur"') + 3]
    plain.write_bytes(beginning)
    error = refusal(plain)
    assert "ends too early" in str(error)
    assert error.line == beginning.count(b"\n") + 1
    whole = gzip.compress(text)
    packed.write_bytes(whole[: len(whole) // 2])
    assert "packed file ends too early" in str(refusal(packed))


@pytest.mark.parametrize("time", [-5, "soon", None, 1e300])
def test_a_bad_time_is_refused_with_its_line(trace: Trace, tmp_path: Path, time: object) -> None:
    overlapped(trace, 1, 0)
    trace.events[3]["dur"] = time
    file = tmp_path / "bad.json"
    text = ",\n".join(json.dumps(event) for event in trace.events)
    file.write_text('{"traceEvents": [\n' + text + "\n]}", encoding="utf-8")
    error = refusal(file)
    assert (error.line, error.key) == (5, "traceEvents.dur")


def test_traces_that_say_no_demand(trace: Trace, tmp_path: Path) -> None:
    file = tmp_path / "trace.json"

    def problem() -> str:
        file.write_text(json.dumps(trace.document()), encoding="utf-8")
        return str(refusal(file))

    trace.compute(1, 5, launch=0.5)
    assert "single GPU" in problem()
    trace.collective(10, 5, issued=9, name="recv")
    assert "no 'ProfilerStep#N' spans" in problem()
    trace.step(1, 20, 10)
    assert "outside the 'ProfilerStep#N' spans" in problem()
    trace.step(2, 0, 15)
    assert "only receives" in problem()
    trace.step(3, 14, 5)
    assert "ProfilerStep#3 begins before ProfilerStep#2 ends" in problem()


def test_collectives_without_sizes(trace: Trace, tmp_path: Path) -> None:
    overlapped(trace, 1, 0)
    for event in trace.events:
        event["args"].pop("In msg nelems", None)
        event["args"].pop("Out msg nelems", None)
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace.document()), encoding="utf-8")
    assert "no NCCL metadata" in str(refusal(file))


def test_only_unknown_collectives(trace: Trace, tmp_path: Path) -> None:
    trace.step(1, 0, 100)
    trace.collective(10, 5, issued=9, name="gossip")
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace.document()), encoding="utf-8")
    assert "'gossip'" in str(refusal(file))


@pytest.mark.parametrize("filler", [b" ", b'"' + b"a", b"1"])
def test_endless_tokens_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filler: bytes
) -> None:
    monkeypatch.setattr(json_stream, "MAX_TOKEN_BYTES", 2**20)
    file = tmp_path / "bomb.json.gz"
    file.write_bytes(gzip.compress(b'{"traceEvents": [' + filler + filler[-1:] * 2**22))
    assert "word, number or blank is larger than 1 MiB" in str(refusal(file))


def test_endless_members_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_MEMBER_BYTES", 2**18)
    file = tmp_path / "bomb.json"
    file.write_bytes(b'{"traceEvents": [{"args": [' + b"1," * 2**18)
    assert "single value is larger" in str(refusal(file))


def test_too_many_events_are_refused(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlapped(trace, 1, 0)
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(trace.document()), encoding="utf-8")
    monkeypatch.setattr(kineto_events, "MAX_KEPT_EVENTS", 5)
    assert "too many events" in str(refusal(file))
    monkeypatch.undo()
    monkeypatch.setattr(kineto_events, "MAX_COLLECTIVES", 1)
    assert "too many collectives" in str(refusal(file))


@pytest.mark.data
def test_real_single_gpu_trace() -> None:
    assert "single GPU" in str(refusal(*real_files("kineto", "alexnet_single_gpu.json.gz")))
