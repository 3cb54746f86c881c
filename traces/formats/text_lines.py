"""Reads a text file of any length line by line, plain or packed with gzip, in little memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from traces.errors import BadInputError
from traces.formats.json_stream import unpacked

MAX_LINE_BYTES = 2**20
MAX_TEXT_BYTES = 4 * 2**30  # unpacked


class Line(NamedTuple):
    """A line without its end. number: from 1. whole: whether its end is in the file."""

    text: str
    number: int
    whole: bool


def stream_lines(file: Path, allowed: str) -> Iterator[Line]:
    """Yield the lines of ``file`` that are not blank; a byte order mark is passed over.

    Packed files are known by their first bytes. Raises BadInputError, with ``allowed`` and the
    line, for what cannot be read, is not UTF-8, or is longer than ``MAX_LINE_BYTES``.
    """

    def refusal(problem: str, line: int) -> BadInputError:
        return BadInputError(problem, allowed=allowed, file=file, line=line or None)

    number = 0
    left_bytes = MAX_TEXT_BYTES
    try:
        with file.open("rb") as raw, unpacked(raw) as stream:
            while data := stream.readline(MAX_LINE_BYTES + 1):
                number += 1
                left_bytes -= len(data)
                if len(data) > MAX_LINE_BYTES:
                    raise refusal(f"is longer than {MAX_LINE_BYTES >> 20} MiB", number)
                if left_bytes < 0:
                    raise refusal(f"the file is longer than {MAX_TEXT_BYTES >> 30} GiB", number)
                text = data.decode("utf-8-sig" if number == 1 else "utf-8").strip("\r\n")
                if text.strip():
                    yield Line(text, number, data.endswith(b"\n"))
    except UnicodeDecodeError:
        raise refusal("is not UTF-8 text", number) from None
    except EOFError:
        raise refusal("the packed file ends too early", number) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise refusal(f"cannot be unpacked: {error}", number) from None
    except OSError as error:
        raise refusal(f"cannot be read: {error.strerror or error}", number) from None
