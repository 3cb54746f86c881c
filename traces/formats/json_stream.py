"""Reads a JSON document far larger than memory, one member at a time, with line numbers."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import ijson

from traces.errors import BadInputError

GZIP_MAGIC = b"\x1f\x8b"

# These bound the memory that one value can take, whatever the file unpacks to. Real members are a
# few kilobytes; the largest known are lists of ranks of jobs with thousands of GPUs.
MAX_TOKEN_BYTES = 4 * 2**20
MAX_MEMBER_BYTES = 16 * 2**20
MAX_DEPTH = 100

_ALLOWED = "one whole JSON document, plain or packed with gzip, with numbers of 64 bits"


_Container = dict[str | None, object] | list[object]


class Member(NamedTuple):
    """One member of a top-level object or array.

    section: the top-level key that it stands under.
    key: its own key, or None in an array.
    value: plain data; numbers are int or float.
    line: where it begins, counted from 1.
    """

    section: str
    key: str | None
    value: object
    line: int


def stream_members(file: Path, sections: Collection[str]) -> Iterator[Member]:
    """Yield the members of the top-level ``sections`` of the JSON document ``file``, in its order.

    Packed files are known by their first bytes, not by their names. Memory stays below a small
    multiple of ``MAX_MEMBER_BYTES``. Raises BadInputError for anything but one whole document.
    """
    reader: _LineReader | None = None
    try:
        with file.open("rb") as raw, unpacked(raw) as stream:
            if stream.peek(len(codecs.BOM_UTF8)).startswith(codecs.BOM_UTF8):
                stream.read(len(codecs.BOM_UTF8))
            reader = _LineReader(stream, file)
            yield from _members(reader, sections)
    except EOFError:
        raise _refusal("the packed file ends too early", file, reader) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _refusal(f"cannot be unpacked: {error}", file, reader) from None
    except OSError as error:
        raise _refusal(f"cannot be read: {error.strerror or error}", file, reader) from None
    except (ijson.JSONError, ValueError) as error:  # ValueError: by ijson's pure Python parser
        raise _refusal(_json_problem(error, reader), file, reader) from None


def unpacked(raw: io.BufferedReader) -> io.BufferedReader:
    """``raw``, or what is packed in it. Its reads raise what those of gzip do."""
    if raw.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC):
        return io.BufferedReader(gzip.GzipFile(fileobj=raw), 2**18)
    return raw


def unpacked_head(head: bytes, most_bytes: int) -> bytes:
    """The first bytes of what ``head`` begins, packed with gzip or not; empty where it is
    damaged."""
    if not head.startswith(GZIP_MAGIC):
        return head[:most_bytes]
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, most_bytes)
    except zlib.error:
        return b""


def _refusal(problem: str, file: Path, reader: _LineReader | None) -> BadInputError:
    line, key = (None, None) if reader is None else (reader.line, reader.section)
    return BadInputError(problem, allowed=_ALLOWED, file=file, line=line, key=key)


def _json_problem(error: Exception, reader: _LineReader | None) -> str:
    if reader is not None and reader.ended:
        return "the document ends too early" if reader.position else "the file is empty"
    reason = error.args[0] if error.args else error
    text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    return f"is not sound JSON: {text.strip().partition(chr(10))[0]}"


class _LineReader:
    """Hands out at most one line a call, so that the parser is never ahead of ``line``."""

    def __init__(self, stream: IO[bytes], file: Path) -> None:
        self._stream = stream
        self._file = file
        self._lines_ended = 0
        self._token_at = 0
        self._member_at: int | None = None
        self._member_line = 1
        self.position = 0
        self.line = 1
        self.section: str | None = None
        self.ended = False

    def read(self, size: int) -> bytes:
        chunk = self._stream.readline(size)
        self.ended = size > 0 and not chunk
        if chunk:
            self.line = self._lines_ended + 1
            self._lines_ended += chunk.endswith(b"\n")
        self.position += len(chunk)
        if self.position - self._token_at > MAX_TOKEN_BYTES:
            raise self.too_large("a single word, number or blank", f"{MAX_TOKEN_BYTES >> 20} MiB")
        if self._member_at is not None and self.position - self._member_at > MAX_MEMBER_BYTES:
            raise self.too_large("a single value", f"{MAX_MEMBER_BYTES >> 20} MiB")
        return chunk

    def token_read(self) -> None:
        self._token_at = self.position

    def member_begins(self) -> None:
        self._member_at, self._member_line = self.position, self.line

    def member_ends(self) -> int:
        """The line where the member began."""
        line = self.line if self._member_at is None else self._member_line
        self._member_at = None
        return line

    def too_large(self, what: str, limit: str) -> BadInputError:
        return BadInputError(
            f"{what} is larger than {limit}",
            allowed="values of the size that a profiler writes",
            file=self._file,
            line=self.line,
        )


def _members(reader: _LineReader, sections: Collection[str]) -> Iterator[Member]:
    """Build the values at the second level of the wanted sections; pass over all others.

    ijson's own ``items`` keeps the path of every value, which a file of opening brackets turns
    into quadratic memory; bare tokens do not. With its Decimals, numbers too long for Python's
    types crash its C parser; with floats, yajl refuses them.
    """
    section = ""
    key: str | None = None
    depth = 0
    unfinished: list[tuple[str | None, _Container]] = []  # innermost last, each under its key
    for kind, token in ijson.basic_parse(reader, use_float=True):
        reader.token_read()
        value: object = token
        if kind == "map_key":
            key = token
            if depth == 1:
                section = reader.section = token
            continue
        if kind in ("start_map", "start_array"):
            depth += 1
            if depth > MAX_DEPTH:
                raise reader.too_large("the nesting", f"{MAX_DEPTH} levels")
            if depth > 2 and section in sections:
                if not unfinished:
                    reader.member_begins()
                unfinished.append((key, {} if kind == "start_map" else []))
            key = None
            continue
        if kind in ("end_map", "end_array"):
            depth -= 1
            if not unfinished:
                continue
            key, value = unfinished.pop()
        elif depth < 2 or section not in sections:
            continue
        if unfinished:
            _put(unfinished[-1][1], key, value)
        else:
            yield Member(section, key, value, reader.member_ends())


def _put(container: _Container, key: str | None, value: object) -> None:
    if isinstance(container, dict):
        container[key] = value
    else:
        container.append(value)
