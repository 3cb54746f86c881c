"""Reads one side of a comparison, whatever it is."""

from __future__ import annotations

from pathlib import Path

from harness.fidelity.inputs.others import (
    GAVEL_HEADING,
    is_batsim,
    read_batsim,
    read_gavel,
    read_muri,
    read_pollux,
    text_lines,
)
from harness.fidelity.inputs.results import Results, together
from harness.fidelity.inputs.run_directories import (
    Role,
    both_sides,
    read_run,
    require_both_sides,
)
from harness.fidelity.inputs.tables import REQUIRED, is_table, read_csv, read_parquet
from traces.errors import BadInputError
from traces.formats.csv_table import header_names, is_header
from traces.formats.muri_trace import RESULT_COLUMNS

_PARQUET = b"PAR1"
_MOST_FILES = 1000
_ALLOWED = (
    f"a run directory; a CSV or Parquet table with {REQUIRED}; Muri's job.csv, Pollux' "
    f"summary.json, Batsim's jobs.csv, or the text that Gavel prints, with {GAVEL_HEADING!r}"
)


def read_results(name: str, role: Role) -> Results:
    """What ``name`` holds: a run directory, a file, or several of them by a pattern with one ``*``.

    What stands for the ``*`` is the arm of a file that names no arms, and else its seed, so that
    ``results/*/job.csv`` are several schedulers, and ``runs/emulated-*`` several repeats.
    Raises BadInputError.
    """
    if not _is_pattern(name):
        return _read_one(Path(name), role)
    return together(
        name, [_read_one(file, role).as_part(star) for star, file in _matching(name).items()]
    )


def read_both_sides(name: str) -> tuple[Results, Results]:
    """Reference and prediction: what one run emulated, and what it simulated.

    name: of a run directory that has both, or a pattern of several. Raises BadInputError.
    """
    for run in _matching(name).values() if _is_pattern(name) else (Path(name),):
        require_both_sides(run)
    reference, prediction = both_sides(name)
    return read_results(reference, "reference"), read_results(prediction, "prediction")


def _is_pattern(name: str) -> bool:
    return "*" in name and not Path(name).exists()


def _matching(pattern: str) -> dict[str, Path]:
    """By what stands for the ``*``, the files that are there, in order. Raises BadInputError."""
    if pattern.count("*") > 1:
        raise BadInputError(
            "the pattern has several *", allowed="one *, which stands for the arm", file=pattern
        )
    files = _there(pattern)
    if not files:
        raise BadInputError("no file is named like that", allowed=_ALLOWED, file=pattern)
    if len(files) > _MOST_FILES:
        raise BadInputError(
            f"{len(files):,} files are named like that",
            allowed=f"at most {_MOST_FILES}",
            file=pattern,
        )
    return files


def _there(pattern: str) -> dict[str, Path]:
    parts = Path(pattern).parts
    place = next(number for number, part in enumerate(parts) if "*" in part)
    before, _, after = parts[place].partition("*")
    try:
        names = sorted(entry.name for entry in Path(*parts[:place]).iterdir())
    except OSError as error:
        raise BadInputError(
            f"cannot be looked through: {error.strerror}", allowed=_ALLOWED, file=pattern
        ) from None
    found = {}
    for name in names:
        star = name.removeprefix(before).removesuffix(after)
        file = Path(*parts[:place], name, *parts[place + 1 :])
        if star and name == f"{before}{star}{after}" and file.exists():
            found[star] = file
    return found


def _read_one(path: Path, role: Role) -> Results:
    if path.is_dir():
        return read_run(path, role)
    if not path.is_file():
        raise BadInputError("there is no such file or directory", allowed=_ALLOWED, file=path)
    if _begins_with(path, _PARQUET):
        return read_parquet(path)
    first = next(text_lines(path), "")
    if first.lstrip().startswith("{"):
        return read_pollux(path)
    names = header_names(first)
    if is_header(first, RESULT_COLUMNS):
        return read_muri(path)
    if is_batsim(names):
        return read_batsim(path, names)
    if is_table(names):
        return read_csv(path)
    if path.suffix.lower() == ".csv":
        raise BadInputError(
            f"the columns are {', '.join(names)}"[:200], allowed=_ALLOWED, file=path, line=1
        )
    return read_gavel(path)


def _begins_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as stream:
            return stream.read(len(magic)) == magic
    except OSError as error:
        raise BadInputError(
            f"cannot be read: {error.strerror}", allowed=_ALLOWED, file=path
        ) from None
