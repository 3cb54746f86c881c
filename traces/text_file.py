"""Reading a person's text file, bounded, with errors that say what would be right."""

from __future__ import annotations

from pathlib import Path

from traces.errors import BadInputError


def read_text(file: Path, max_bytes: int, allowed: str) -> str:
    """The text of ``file``.

    Raises BadInputError, with ``allowed``, where it is not UTF-8 text of at most ``max_bytes``.
    """
    try:
        if file.stat().st_size > max_bytes:
            raise BadInputError("the file is too large", allowed=allowed, file=file)
        return file.read_text(encoding="utf-8")
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed=allowed, file=file) from None
    except UnicodeDecodeError:
        raise BadInputError("is not UTF-8 text", allowed=allowed, file=file) from None
