"""Which program a command starts, and what to do where its interpreter lacks a module."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from emulator.command_program import find_program, program_words, remedy, search_path


def test_the_callers_path_goes_first_and_roundelays_own_place_last() -> None:
    own = str(Path(sys.executable).parent)
    assert search_path({"PATH": "/opt/conda/bin:/bin"}) == f"/opt/conda/bin:/bin:{own}"
    assert search_path({}).endswith(f":{own}")


def test_a_program_is_named_with_its_place(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.touch(mode=0o755)
    place = find_program("python", str(tmp_path))
    assert program_words("python", place) == f"'python' ({program})"
    assert find_program(str(program), "/bin") == str(program)
    assert program_words(str(program), str(program)) == f"'{program}'"
    assert find_program("python", str(tmp_path / "nowhere")) == "python"


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("ModuleNotFoundError: No module named 'torch'", "'roundelay[real]'"),
        ("/usr/bin/python: No module named profiler", "'roundelay[real]'"),
        (
            "/usr/bin/python: Error while finding module specification for "
            "'profiler.real_jobs.data_parallel' (ModuleNotFoundError: No module named 'profiler')",
            "'roundelay[real]'",
        ),
        ("ModuleNotFoundError: No module named 'deepspeed.ops'", "deepspeed"),
    ],
)
def test_a_module_that_lacks_has_a_remedy(line: str, package: str) -> None:
    words = f"; pip install {package}"
    assert remedy(line, sys.executable) == words
    assert remedy(line, "/opt/bin/python") == (
        f"{words} for it, or let the command name {sys.executable}, Roundelay's own"
    )


def test_other_last_words_have_none() -> None:
    assert remedy("ValueError: no such layer", "/opt/bin/python") == ""
