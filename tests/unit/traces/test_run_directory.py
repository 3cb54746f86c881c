"""Tables keep their columns and types, also when empty; bad directories are refused."""

from __future__ import annotations

import dataclasses
import errno
import math
import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from traces.errors import BadInputError
from traces.results import IterationRow, JobRow, LinkRow
from traces.run_directory import (
    TABLES,
    give_to_caller,
    prepare_directory,
    read_json,
    read_table,
    table,
    write_json,
    write_table,
)

ROWS: dict[str, list[Any]] = {
    "iterations": [
        IterationRow("arm", "one", 0, False, 0.0, 0.1, 0.2, 0.2),
        IterationRow("arm", "two", 1, True, 0.2, 0.3, 0.4, 0.2),
    ],
    "jobs": [JobRow("arm", "one", "vgg19", 2, 0, math.nan, math.nan, math.nan, 0.0, 3)],
    "links": [
        LinkRow("arm", "n0", "a->b", "one", 0.02, 1e9, 1e9, 0.0, 0),
        LinkRow("arm", "n0", "a->b", None, 0.04, 5e8, 1e9, 1514.0, 2, 9, None),
    ],
}


@pytest.mark.parametrize("name", list(TABLES))
@pytest.mark.parametrize("full", [True, False])
def test_a_table_survives_its_file(tmp_path: Path, name: str, full: bool) -> None:
    rows = ROWS[name] if full else []
    write_table(tmp_path, name, rows)
    frame = read_table(tmp_path, name)
    pd.testing.assert_frame_equal(frame, table(rows, TABLES[name]))
    assert list(frame.columns) == [field.name for field in dataclasses.fields(TABLES[name])]
    assert len(frame) == len(rows)


@pytest.mark.parametrize("name", list(TABLES))
def test_an_empty_table_has_the_types_of_a_full_one(name: str) -> None:
    empty, full = table([], TABLES[name]), table(ROWS[name], TABLES[name])
    assert list(empty.dtypes) == list(full.dtypes)
    assert "object" not in {str(dtype) for dtype in empty.dtypes}


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    write_table(tmp_path, "links", ROWS["links"])
    frame = read_table(tmp_path, "links")
    assert frame["job"][0] == "one"
    assert pd.isna(frame["job"][1])
    assert frame["dropped_packets"].tolist() == [0, 2]
    assert frame["rate_bps"].tolist() == [1e9, 5e8]


def test_a_missing_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"there is no links\.parquet"):
        read_table(tmp_path, "links")


def test_a_damaged_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "links.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(BadInputError, match="cannot be read") as caught:
        read_table(tmp_path, "links")
    assert "\n" not in str(caught.value)


def test_a_table_without_a_column_is_refused(tmp_path: Path) -> None:
    frame = table(ROWS["links"], LinkRow).drop(columns="port")
    frame.to_parquet(tmp_path / "links.parquet")
    with pytest.raises(BadInputError, match="lacks the column 'port'"):
        read_table(tmp_path, "links")


def test_a_new_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    assert prepare_directory(tmp_path / "a" / "b") == tmp_path / "a"
    assert (tmp_path / "a" / "b").is_dir()
    # empty is as good as new
    assert prepare_directory(tmp_path / "a" / "b") == tmp_path / "a" / "b"


def test_a_directory_with_anything_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".hidden").touch()
    with pytest.raises(BadInputError, match="not empty"):
        prepare_directory(tmp_path)


def test_a_file_in_the_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BadInputError, match="cannot be made"):
            prepare_directory(place)


def test_a_place_that_cannot_be_searched_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may search every directory; so the kernel's answer to others stands in."""

    def refuse(path: Path) -> bool:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "exists", refuse)
    with pytest.raises(BadInputError, match="cannot be made: Permission denied"):
        prepare_directory(tmp_path / "closed" / "out")


def test_json_survives_its_file(tmp_path: Path) -> None:
    document = {"a": [1, 2.5, None], "é": "ü"}
    write_json(tmp_path / "x.json", document)
    assert read_json(tmp_path / "x.json") == document


def test_a_number_that_json_has_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"a": math.nan})


@pytest.mark.parametrize("data", [b"{", b"", b"\xff"])
def test_bad_json_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(BadInputError, match="is not JSON"):
        read_json(tmp_path / "x.json")
    with pytest.raises(BadInputError, match="cannot be read"):
        read_json(tmp_path / "absent.json")


class Ownership:
    """Records chown instead of doing it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, user: int, **environment: str) -> None:
        self.given: dict[Path, tuple[int, int]] = {}
        monkeypatch.setattr(os, "geteuid", lambda: user)
        monkeypatch.setattr(os, "chown", self._chown)
        for name in ("SUDO_UID", "SUDO_GID"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)

    def _chown(self, path: Path, uid: int, gid: int, *, follow_symlinks: bool) -> None:
        assert not follow_symlinks
        self.given[path] = (uid, gid)


def test_under_sudo_everything_goes_to_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "file").touch()
    ownership = Ownership(monkeypatch, 0, SUDO_UID="1000", SUDO_GID="1001")
    give_to_caller(tmp_path)
    everything = {tmp_path, tmp_path / "below", tmp_path / "below" / "file"}
    assert ownership.given == dict.fromkeys(everything, (1000, 1001))


@pytest.mark.parametrize(
    ("user", "environment"),
    [
        (1000, {"SUDO_UID": "1000", "SUDO_GID": "1000"}),
        (0, {}),
        (0, {"SUDO_UID": "1000"}),
        (0, {"SUDO_UID": "-1", "SUDO_GID": "0"}),
        (0, {"SUDO_UID": "root", "SUDO_GID": "root"}),
    ],
)
def test_without_sudo_nothing_changes_hands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, environment: dict[str, str]
) -> None:
    ownership = Ownership(monkeypatch, user, **environment)
    give_to_caller(tmp_path)
    assert ownership.given == {}
