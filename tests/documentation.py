"""What README.md and docs/ tell a person to type: commands, Python, pieces of scenarios. Pure."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

_FENCE = "```"
_INDENT = " " * 4
_SHELL = ("", "sh")
_COMMAND = re.compile(r"(?:sudo )?(roundelay .*)")
_INLINE = re.compile(r"`(?:sudo )?(roundelay [^`]+)`")
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_COMMENT = re.compile(r"\s+#\s.*")


@dataclass(frozen=True)
class Block:
    """Lines of a document that are code. language: '' where they are indented, or it says none."""

    document: str
    language: str
    text: str


def blocks(file: Path) -> tuple[list[Block], str]:
    """The code of a document, and the rest of it."""
    found: list[Block] = []
    rest: list[str] = []
    code: list[str] = []
    language: str | None = None
    for line in [*file.read_text(encoding="utf-8").splitlines(), ""]:
        indented = language is None and line.startswith(_INDENT) and (code or not rest[-1:][0])
        if indented:
            code.append(line.removeprefix(_INDENT))
            continue
        if line.startswith(_FENCE):
            if language is None:
                language = line.removeprefix(_FENCE)
                continue
        elif language is not None:
            code.append(line)
            continue
        else:
            rest.append(line)
        if code:
            found.append(Block(file.name, language or "", "\n".join(code)))
        code, language = [], None
    return found, "\n".join(rest)


def commands() -> dict[str, str]:
    """Every ``roundelay ...`` of the documents without sudo and comments, and where it is first.

    They stand in code, a line each (also continued ones), or between backticks.
    """
    found: dict[str, str] = {}
    for file in DOCUMENTS:
        for text in _commands_of(*blocks(file)):
            found.setdefault(" ".join(text.split()), file.name)
    return found


def _commands_of(code: list[Block], rest: str) -> Iterator[str]:
    for block in code:
        if block.language in _SHELL:
            for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
                if match := _COMMAND.match(_COMMENT.sub("", line)):
                    yield match[1]
    for match in _INLINE.finditer(rest):
        yield match[1]


def words_of(command: str, place: Path) -> list[str]:
    """What a shell in ``place`` hands to ``roundelay``; patterns that are not quoted are files.

    Raises AssertionError where such a pattern is no file's name.
    """
    words: list[str] = []
    for word in shlex.split(command)[1:]:
        if "*" in word and f"'{word}'" not in command:
            files = sorted(str(file.relative_to(place)) for file in place.glob(word))
            assert files, f"no file is named like {word}"
            words.extend(files)
        else:
            words.append(word)
    return words


def code_in(language: str) -> list[Block]:
    """Every block of ``language`` in the documents."""
    return [block for file in DOCUMENTS for block in blocks(file)[0] if block.language == language]


def links(file: Path) -> Iterator[tuple[Path, str]]:
    """Every link of a document that leads to another file or heading here: the file, the anchor."""
    _, rest = blocks(file)
    for match in _LINK.finditer(rest):
        yield (file.parent / match[1] if match[1] else file), match[2] or ""


def anchors(file: Path) -> set[str]:
    """What links to the headings of a document are named, as GitHub names them."""
    _, rest = blocks(file)
    headings = (match[1].lower() for match in _HEADING.finditer(rest))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in headings}
