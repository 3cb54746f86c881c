"""Reads a JSON array of objects that is far larger than memory, object by object, with lines.

Each object is built whole by Python's own decoder, several times as fast as the parser of tokens in
``json_stream``, which reads documents of any shape.
"""

from __future__ import annotations

import codecs
import gzip
import hashlib
import json
import math
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple, NoReturn

from traces.errors import BadInputError
from traces.formats.json_stream import GZIP_MAGIC, MAX_MEMBER_BYTES, unpacked
from traces.trace_format import source_words

MAX_TEXT_BYTES = 2**30  # unpacked

_CHUNK_BYTES = 2**20
_BLANKS = re.compile(r"[ \t\r\n]*")
_ALLOWED = "one whole JSON array of objects in UTF-8, plain or packed with gzip, of at most 1 GiB"


class Element(NamedTuple):
    """An object of the array: plain data, and the line where it begins, from 1."""

    value: dict[str, object]
    line: int


def stream_objects(file: Path, share: float = 1.0) -> Iterator[Element]:
    """Yield the objects of the array ``file``; those that begin in the first ``share`` of it.

    A packed file is known by its first bytes, and cannot be read in part. A byte order mark is
    fine. Beyond one object at most a few times ``MAX_MEMBER_BYTES`` are held. Raises BadInputError,
    with the line, for anything but one whole array of objects.
    """
    text: _Text | None = None
    try:
        with file.open("rb") as raw, unpacked(raw) as stream:
            size_bytes = file.stat().st_size
            if share < 1 and stream is not raw:
                problem = "a part of a packed file cannot be read"
                raise BadInputError(problem, allowed="the file unpacked, or all of it", file=file)
            text = _Text(stream, file, math.ceil(size_bytes * share) if share < 1 else None)
            yield from _elements(text)
    except _PartEndsError:
        return
    except EOFError:
        raise _refusal("the packed file ends too early", file, text) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise _refusal(f"cannot be unpacked: {error}", file, text) from None
    except OSError as error:
        raise _refusal(f"cannot be read: {error.strerror or error}", file, text) from None


def source_of(file: Path, share: float = 1.0) -> str:
    """The source_words of the first ``share`` of ``file``."""
    digest = hashlib.sha256()
    left_bytes = math.ceil(file.stat().st_size * share)
    with file.open("rb") as stream:
        while chunk := stream.read(min(left_bytes, _CHUNK_BYTES)):
            digest.update(chunk)
            left_bytes -= len(chunk)
    return source_words(file, digest.hexdigest(), share)


def beginning_of(head: bytes) -> str:
    """The text that the first bytes of a file begin with, packed with gzip or not."""
    if head.startswith(GZIP_MAGIC):
        try:
            head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, len(head))
        except zlib.error:
            return ""
    return head.decode(errors="replace").removeprefix("\ufeff").lstrip()


class _PartEndsError(Exception):
    """The way out where the part that was asked for has been read."""


def _refusal(problem: str, file: Path, text: _Text | None) -> BadInputError:
    line = None if text is None else text.line
    return BadInputError(problem, allowed=_ALLOWED, file=file, line=line)


def _elements(text: _Text) -> Iterator[Element]:
    text.take("[")
    separator = "" if text.next_character() != "]" else text.take("]")
    while separator != "]":
        if text.next_character() != "{":
            text.refuse("there is no object")
        line = text.line
        yield Element(text.take_object(), line)
        separator = text.take(",]")
    if text.next_character():
        text.refuse("there is more after the array")


class _Text:
    """The text of a file, of which a chunk is at hand.

    line: that of the next character. part_bytes: what is wanted of the file; None for all.
    """

    def __init__(self, stream: IO[bytes], file: Path, part_bytes: int | None) -> None:
        self._stream = stream
        self._file = file
        self._part_bytes = part_bytes
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder(parse_constant=_refuse_constant)
        self._read_bytes = 0
        self._text = ""
        self._at = 0
        self.line = 1

    def next_character(self) -> str:
        """The next character that is not blank; empty at the end of the file."""
        while True:
            if self._part_bytes is not None and self._read_bytes > self._part_bytes:
                raise _PartEndsError
            found = _BLANKS.match(self._text, self._at)
            self._pass_to(len(self._text) if found is None else found.end())
            if self._at < len(self._text):
                return self._text[self._at]
            if self._read_bytes == self._part_bytes:
                raise _PartEndsError
            if not self._read_on():
                return ""

    def take(self, allowed: str) -> str:
        """Pass the next character, which has to be one of ``allowed``, and return it."""
        character = self.next_character()
        if not character:
            self.refuse("the document ends too early")
        if character not in allowed:
            self.refuse(f"{character!r} stands where {' or '.join(map(repr, allowed))} has to")
        self._pass_to(self._at + 1)
        return character

    def take_object(self) -> dict[str, object]:
        """Pass the object that begins at the next character, and return it."""
        while True:
            value: dict[str, object]
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except RecursionError:
                self.refuse("is nested too deeply")
            except ValueError as error:
                # Most often it only ends behind the chunk; else the error stays the same.
                if len(self._text) - self._at < MAX_MEMBER_BYTES and self._read_on():
                    continue
                self._refuse_json(error)
            self._pass_to(end)
            return value

    def refuse(self, problem: str) -> NoReturn:
        raise _refusal(problem, self._file, self)

    def _refuse_json(self, error: ValueError) -> NoReturn:
        reason = str(error).partition("\n")[0]
        if isinstance(error, json.JSONDecodeError):
            reason = error.msg
            self._pass_to(error.pos)
        self.refuse(f"is not sound JSON, or an object larger than 16 MiB: {reason}")

    def _pass_to(self, place: int) -> None:
        self.line += self._text.count("\n", self._at, place)
        self._at = place

    def _read_on(self) -> bool:
        """Read as much again as is at hand. False at the end of the file."""
        wanted = max(_CHUNK_BYTES, len(self._text) - self._at)
        if self._part_bytes is not None and self._read_bytes < self._part_bytes:
            wanted = min(wanted, self._part_bytes - self._read_bytes)
        chunk = self._stream.read(wanted)
        self._read_bytes += len(chunk)
        if self._read_bytes > MAX_TEXT_BYTES:
            self.refuse("the document is too large")
        try:
            more = self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            sound = error.object[: error.start].decode()
            self.line += self._text.count("\n", self._at) + sound.count("\n")
            self.refuse("is not UTF-8 text")
        self._text = self._text[self._at :] + more
        self._at = 0
        return bool(chunk)


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")
