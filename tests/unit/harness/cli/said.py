"""What a command wrote, as tests look at it."""

from __future__ import annotations

from click.testing import Result


def one_line(result: Result, exit_code: int) -> str:
    """The only line that the command wrote."""
    assert result.exit_code == exit_code, (result.stdout, result.stderr, result.exception)
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def folded(text: str) -> str:
    """``text`` as if it had one line, as wide as it likes."""
    return " ".join(text.split())
