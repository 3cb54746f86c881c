"""The new file that a verb of traces writes."""

from __future__ import annotations

from pathlib import Path

from traces.errors import BadInputError
from traces.job_trace import JobTrace
from traces.job_trace_file import write_trace
from traces.run_directory import give_to_caller


def refuse_existing(output: Path) -> None:
    """BadInputError where ``output`` is there, before work is done that would be lost."""
    if output.exists() or output.is_symlink():
        raise BadInputError("is there already", allowed="a new file", file=output, key="-o")


def write_new_trace(trace: JobTrace, output: Path) -> None:
    """Write ``trace`` to ``output``, which belongs to the caller then, or leave nothing.

    Raises BadInputError where the file is there already or cannot be made.
    """
    try:
        output.touch(exist_ok=False)
    except OSError as error:
        problem = f"cannot be written: {error.strerror}"
        raise BadInputError(problem, allowed="a new file", file=output, key="-o") from None
    try:
        write_trace(trace, output)
    except BaseException:
        output.unlink()
        raise
    give_to_caller(output)
