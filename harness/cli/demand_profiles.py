"""The profiles and the link that the verbs of demands take."""

from __future__ import annotations

from pathlib import Path

from harness.cli.options import quantity
from harness.report.figures.drawn import FORMATS
from traces.errors import BadInputError
from traces.model_profile import ModelProfile, read_profile
from traces.models import RECONSTRUCTED
from traces.quantities import parse_rate_bps

_LEAST_WORKERS = 2  # one alone sends nothing


def profile_of(name: str) -> ModelProfile:
    """The profile in the file ``name``, or of the known model with that name.

    Raises BadInputError where it is neither.
    """
    if name in RECONSTRUCTED:
        model = RECONSTRUCTED[name]
        return model.profile(max(model.workers[0], _LEAST_WORKERS))
    file = Path(name)
    if not file.is_file():
        allowed = f"a profile's file, or one of {', '.join(RECONSTRUCTED)}"
        raise BadInputError(f"there is no profile {name!r}", allowed=allowed)
    return read_profile(file)


def link_rate_bps(text: str) -> float:
    """The rate that ``--link`` says. Raises BadInputError."""
    return quantity(parse_rate_bps, text, "--link")


def check_drawing(file: Path | None) -> None:
    """BadInputError where ``file`` does not say by its name how to draw into it."""
    if file is not None and file.suffix not in FORMATS:
        raise BadInputError(
            "its name does not say what it is", allowed="NAME.png or NAME.svg", file=file, key="-o"
        )
