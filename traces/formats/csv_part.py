"""The first part of a CSV file, or all of it, as bytes that lines and fields can be told in."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from pathlib import Path

from traces.errors import BadInputError

MAX_FILE_BYTES = 2**30

# Without these, lines and fields are what LF and the separator divide.
_REFUSED = re.compile(rb'["\x00]|\r(?!\n)')
_REFUSED_BESIDE_QUOTES = re.compile(rb"\x00|\r(?!\n)")
_IN_THEM = (b'"', b"\x00", b"\r")


@dataclass(frozen=True)
class Part:
    """data: whole lines from the beginning of a file, in UTF-8. share: how much of it they are."""

    data: bytes
    share: float

    @property
    def first_line(self) -> str:
        end = self.data.find(b"\n")
        return self.data[: end if end >= 0 else None].decode()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def read_part(file: Path, share: float, *, quotes: bool) -> Part:
    """The first ``share`` of ``file``; the rest is not read. quotes: whether it may have quotation
    marks.

    Raises BadInputError, with the line where there is one, for what is larger than MAX_FILE_BYTES,
    no UTF-8 text, or has characters that break lines.
    """
    allowed = "a CSV file in UTF-8 of at most 1 GiB"
    try:
        with file.open("rb") as stream:
            size_bytes = file.stat().st_size
            wanted_bytes = math.ceil(size_bytes * share)
            if wanted_bytes > MAX_FILE_BYTES:
                raise BadInputError("the file is too large", allowed=allowed, file=file)
            data = stream.read(wanted_bytes)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed=allowed, file=file) from None
    if len(data) < size_bytes:
        data = data[: data.rfind(b"\n") + 1] or data  # of a line that was cut nothing is known
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInputError("is not UTF-8 text", allowed=allowed, file=file, line=line) from None
    # Most files have none of these bytes, and the search for patterns is slow.
    refused = _REFUSED_BESIDE_QUOTES if quotes else _REFUSED
    found = refused.search(data) if any(byte in data for byte in _IN_THEM) else None
    if found:
        without = "values in" if quotes else "values without quotation marks, in"
        raise BadInputError(
            f"has the character {found[0].decode()!r}",
            allowed=f"{without} lines that end with LF or CR LF",
            file=file,
            line=data.count(b"\n", 0, found.start()) + 1,
        )
    return Part(data, share)
