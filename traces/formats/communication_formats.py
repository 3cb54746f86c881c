"""The formats of communication traces, and how a file's own is told from its first bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from traces.communication_trace import CommunicationFormat, CommunicationImport, ImportOptions
from traces.errors import BadInputError
from traces.formats import aicb, chakra, kineto, nccl_inspector, simai
from traces.formats.json_stream import unpacked_head

COMMUNICATION_FORMATS: dict[str, CommunicationFormat] = {
    each.name: each
    for each in (
        aicb.FORMAT,
        simai.FORMAT,
        nccl_inspector.FORMAT,
        kineto.FORMAT,
        chakra.FORMAT,
    )
}
"""By name, in the order in which a file is tried: those that are told by less come last."""

_HEAD_BYTES = 2**16  # far more than any header
_UNPACKED_HEAD_BYTES = 2**20


def import_communication(
    files: Sequence[Path], format: str | None = None, options: ImportOptions | None = None
) -> CommunicationImport:
    """The demand in ``files``, in one of COMMUNICATION_FORMATS; by content where that is None.

    files: one, or one for each rank where the format has that. Raises BadInputError, with the
    known formats where the file is none of them.
    """
    chosen, options = communication_format_of(files[0], format), options or ImportOptions()
    if len(files) > 1 and not chosen.one_file_per_rank:
        raise BadInputError(
            f"the format {chosen.name!r} has all in one file", allowed="one file", file=files[1]
        )
    for given in options.given():
        if given not in chosen.options:
            allowed = ", ".join(sorted(chosen.options)) or "none of the options of other formats"
            problem = f"the format {chosen.name!r} has no use for it"
            raise BadInputError(problem, allowed=allowed, key=given)
    return chosen.read(files, options)


def communication_format_of(file: Path, format: str | None = None) -> CommunicationFormat:
    """The format that is named, or else that of ``file`` by its content. Raises BadInputError."""
    if format is None:
        return _told(file)
    if format not in COMMUNICATION_FORMATS:
        problem = f"{format!r} is no format of communication traces"
        raise BadInputError(problem, allowed=_allowed(), file=file)
    return COMMUNICATION_FORMATS[format]


def _allowed() -> str:
    formats = "; ".join(f"{each.name}, {each.title}" for each in COMMUNICATION_FORMATS.values())
    return f"a trace in one of the formats: {formats}"


def _told(file: Path) -> CommunicationFormat:
    try:
        with file.open("rb") as stream:
            head = unpacked_head(stream.read(_HEAD_BYTES), _UNPACKED_HEAD_BYTES)
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
        raise BadInputError(problem, allowed=_allowed(), file=file) from None
    for each in COMMUNICATION_FORMATS.values():
        if each.is_format(head):
            return each
    raise BadInputError("its format is not known", allowed=_allowed(), file=file, line=1)
