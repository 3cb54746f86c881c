"""A profile survives its file, and a damaged file is refused by key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.builders import make_profile
from tests.unit.refusal import refusal_of
from traces import model_profile
from traces.demand import Demand, Pattern, Transfer
from traces.errors import BadInputError
from traces.model_profile import ModelProfile, profile_document, read_profile, write_profile
from traces.models import RECONSTRUCTED

WHOLE = ModelProfile(
    model="a model",
    num_gpus=3,
    batch_size=96,
    gpu_type="A100",
    demand=Demand(
        0.25,
        (
            Transfer(0.0, 10.5, Pattern.ALL_TO_ALL, True, 1e9, (), "first"),
            Transfer(0.125, 7.0, Pattern.PAIRS, pairs=((0, 1), (2, 0))),
            Transfer(0.25, 1e9),
        ),
    ),
    provenance="published",
    source="a paper, table 3",
    measured_iteration_s=0.3,
)

KNOWN = [RECONSTRUCTED["vgg19"].profile(1), RECONSTRUCTED["gpt3"].profile(4)]


def document(**changes: Any) -> dict[str, Any]:
    values = {
        "schema_version": 1,
        "model": "m",
        "num_gpus": 2,
        "provenance": "measured",
        "source": "x",
        "demand": {"compute_s": 0.1, "transfers": [{"ready_s": 0.05, "bytes": 1e6}]},
    } | changes
    return {key: value for key, value in values.items() if value is not ...}


def refusal(file: Path, text: str | bytes) -> BadInputError:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return refusal_of(file, read_profile, file)


@pytest.mark.parametrize("profile", [WHOLE, make_profile(), *KNOWN])
def test_a_profile_survives_its_file(tmp_path: Path, profile: ModelProfile) -> None:
    write_profile(profile, tmp_path / "p.json")
    assert read_profile(tmp_path / "p.json") == profile


@given(
    st.floats(0, 10),
    st.floats(1e-3, 1e15),
    st.none() | st.floats(1.0, 1e15),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
def test_no_number_or_name_changes_on_the_way(
    tmp_path_factory: pytest.TempPathFactory,
    compute_s: float,
    size: float,
    limit: float | None,
    name: str,
) -> None:
    file = tmp_path_factory.getbasetemp() / "property.json"
    transfer = Transfer(compute_s, size, rate_limit_bps=limit, name=name)
    profile = make_profile(Demand(compute_s, (transfer,)), model=name)
    write_profile(profile, file)
    assert read_profile(file) == profile


def test_the_document_says_its_version_and_leaves_out_what_is_unknown() -> None:
    written = profile_document(make_profile())
    assert written["schema_version"] == 1
    assert "batch_size" not in written


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"schema_version": ...}, "schema_version"),
        ({"model": 5}, "model"),
        ({"num_gpus": 0}, "num_gpus"),
        ({"provenance": "guessed"}, "provenance"),
        ({"source": ...}, "source"),
        ({"colour": "red"}, "colour"),
        ({"demand": ...}, "demand"),
        ({"demand": {"compute_s": -1, "transfers": []}}, "demand.compute_s"),
        ({"demand": {"compute_s": 1}}, "demand.transfers"),
        (
            {"demand": {"compute_s": 1, "transfers": [{"ready_s": 0, "bytes": 0}]}},
            "demand.transfers.0.bytes",
        ),
        (
            {"demand": {"compute_s": 1, "transfers": [{"ready_s": 0, "bytes": 1, "kind": "x"}]}},
            "demand.transfers.0.kind",
        ),
        (
            {"demand": {"compute_s": 1, "transfers": [{"ready_s": 0, "bytes": 1, "pattern": "x"}]}},
            "demand.transfers.0.pattern",
        ),
        ({"demand": {"compute_s": 1, "transfers": [{"ready_s": 2, "bytes": 1}]}}, "demand"),
        (
            {
                "demand": {
                    "compute_s": 1,
                    "transfers": [{"ready_s": 1, "bytes": 1}, {"ready_s": 0, "bytes": 1}],
                }
            },
            "demand",
        ),
    ],
)
def test_a_bad_document_is_refused_by_key(
    tmp_path: Path, changes: dict[str, Any], key: str
) -> None:
    error = refusal(tmp_path / "p.json", json.dumps(document(**changes)))
    assert error.key == key
    assert "demand import" in error.allowed


def test_the_document_without_changes_is_sound(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(document()))
    assert read_profile(tmp_path / "p.json").num_gpus == 2


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", b"\xff\xfe{}"])
def test_what_is_no_json_object_is_refused(tmp_path: Path, text: str | bytes) -> None:
    refusal(tmp_path / "p.json", text)


def test_infinite_bytes_are_refused(tmp_path: Path) -> None:
    text = json.dumps(document()).replace("1000000.0", "1e999")
    assert refusal(tmp_path / "p.json", text).key == "demand"


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "absent"):
        with pytest.raises(BadInputError, match="cannot be read"):
            read_profile(place)


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_profile, "MAX_FILE_BYTES", 5)
    assert "too large" in refusal(tmp_path / "p.json", json.dumps(document())).problem
