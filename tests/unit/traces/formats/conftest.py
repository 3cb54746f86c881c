"""What the tests of formats start from."""

from __future__ import annotations

import pytest

from tests.unit.traces.formats.kineto_trace import Trace


@pytest.fixture
def trace() -> Trace:
    """A Kineto trace without events."""
    return Trace()
