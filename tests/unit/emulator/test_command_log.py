"""What a command writes: all of it in a file, of much the beginning and the end."""

from __future__ import annotations

import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.command_log import BEGINNING_BYTES, END_BYTES, CommandLog
from traces.errors import EmulationError

PIECE_BYTES = 2**18


@pytest.fixture
def log(tmp_path: Path) -> Iterator[CommandLog]:
    made = CommandLog(tmp_path / "own.left0.log", None)
    yield made
    made.close()


def test_all_of_it_is_in_a_file_that_is_its_users_own(log: CommandLog, tmp_path: Path) -> None:
    file = tmp_path / "own.left0.log"
    log.take()
    os.write(log.writable, b"loss 1.0\n")
    os.write(log.writable, b"loss \xff0.9\n\n")
    log.take()
    assert file.read_bytes() == b"loss 1.0\nloss \xff0.9\n\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert log.last_line() == "loss \N{REPLACEMENT CHARACTER}0.9"
    assert str(log) == f"; all that it wrote is in {file}"


@pytest.mark.parametrize("pieces", [12, 13, 40])
def test_of_much_the_beginning_and_the_end_are_kept_and_what_lacks_is_said(
    log: CommandLog, tmp_path: Path, pieces: int
) -> None:
    written = b"".join(b"%015d\n" % number for number in range(pieces * PIECE_BYTES // 16))
    for at in range(0, len(written), PIECE_BYTES):
        os.write(log.writable, written[at : at + PIECE_BYTES])
        log.take()
    kept = (tmp_path / "own.left0.log").read_bytes()
    if len(written) <= BEGINNING_BYTES + 2 * END_BYTES:
        assert kept == written
        return
    assert kept[:BEGINNING_BYTES] == written[:BEGINNING_BYTES]
    notice, end = kept[BEGINNING_BYTES:].split(b" bytes are left out here]\n")
    assert END_BYTES <= len(end) <= 2 * END_BYTES
    assert written.endswith(end)
    left_out = int(notice.removeprefix(b"\n[").replace(b",", b""))
    assert left_out == len(written) - BEGINNING_BYTES - len(end)


def test_without_a_file_the_last_line_is_known() -> None:
    log = CommandLog(None, None)
    assert (log.last_line(), str(log)) == ("", "")
    os.write(log.writable, b"one\rtwo \x1b[1m\n  \n")
    log.take()
    assert log.last_line() == "two \\x1b[1m"
    log.close()


def test_no_file_is_written_over_nor_one_that_a_link_leads_to(tmp_path: Path) -> None:
    there, link = tmp_path / "there", tmp_path / "link"
    there.write_text("precious")
    link.symlink_to(tmp_path / "elsewhere")
    for file in (there, link, tmp_path / "no" / "directory"):
        with pytest.raises(EmulationError, match=f"{file} cannot be made: "):
            CommandLog(file, None)
    assert there.read_text() == "precious"
    assert not (tmp_path / "elsewhere").exists()


def test_what_cannot_be_written_is_an_error_that_names_the_file(log: CommandLog) -> None:
    os.write(log.writable, b"loss 1.0\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A file ends there, as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (4, limits[1]))
    try:
        with pytest.raises(EmulationError, match="log cannot be written: File too large"):
            log.take()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
