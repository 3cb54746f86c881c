"""Property tests are the same on every run and every machine, however slow it is; and which tests
share a process."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

settings.register_profile(
    "unit",
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("unit")


class PolluxTogether(LoadFileScheduling):
    """A process takes a file as a whole, and all files about Pollux.

    Where numba's cache is empty, each process that runs its search compiles it, which takes a dozen
    seconds.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "pollux" if "pollux" in file else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """See xdist; None leaves the choice to it."""
    by_file = config.getvalue("dist") == "loadfile"
    return PolluxTogether(config, log) if by_file else None
