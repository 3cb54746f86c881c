"""What is said of a file that is no good, as the tests ask for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import pytest

from traces.errors import BadInputError

Arguments = ParamSpec("Arguments")


def refusal_of(
    file: Path,
    read: Callable[Arguments, object],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> BadInputError:
    """The error with which ``read(*arguments, **options)`` refuses ``file``, by its own name."""
    with pytest.raises(BadInputError) as caught:
        read(*arguments, **options)
    assert caught.value.file == file
    return caught.value
