"""What torch.compile cannot do here, as an error of one line."""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Iterator

from torch._dynamo.exc import TorchDynamoException

from traces.errors import MissingCapabilityError

_MOST_WORDS = 300  # characters


@contextlib.contextmanager
def compile_errors() -> Iterator[None]:
    """Around a whole iteration: the forward pass is compiled where it is first called, the backward
    pass where it first runs, and both again where a batch has other shapes.

    Raises MissingCapabilityError where torch fails at that, with the first of what it says.
    """
    try:
        yield
    except TorchDynamoException as error:
        first = str(error).split("\n\n", 1)[0]  # hints for those who develop torch follow
        raise MissingCapabilityError(
            f"torch.compile fails: {textwrap.shorten(first, _MOST_WORDS)}",
            remedy="leave --compile out, or install what it asks for, such as a C++ compiler "
            "and the headers of Python (apt-get install g++ python3-dev)",
        ) from None
