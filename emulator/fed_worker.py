"""A worker with an input pipeline: a loader process under a CPU quota prepares its samples."""

from __future__ import annotations

import select
import time
from pathlib import Path

from emulator.messages import Message, MessageSocket
from emulator.training.loader import Loader
from emulator.training.specification import loader_specification_of, pipeline_of, share_of
from emulator.wake import sleep_until
from emulator.worker import follow

# The specification is that of a worker, with
#   input: {loader: a LoaderSpecification, groups: [path, ...]}
# and what changes it later is {pipeline, share}.


def run_fed_worker(specification: Message, control: MessageSocket) -> None:
    """As ``worker.run_worker``. Raises LoaderLostError where the loader has ended."""
    given = specification["input"]
    groups = [Path(path) for path in given["groups"]]
    # It forks, and so comes before all threads.
    loader = Loader.start(loader_specification_of(given["loader"]), groups)
    try:
        follow(specification, control, _Loaded(loader))
    finally:
        loader.close()


class _Loaded:
    """One batch is prepared ahead, from when the one before is taken; the first is ready."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        loader.resume()

    def take(self, start_s: float) -> None:
        sleep_until(start_s)
        if self._loader.take(time.monotonic()) is None:
            raise RuntimeError("an iteration began before its samples were ready")

    def await_next(self) -> float:
        if select.select([self._loader], [], [], 0.0)[0]:
            return 0.0
        select.select([self._loader], [], [])  # the controller gives up on a worker that is silent
        return time.monotonic()

    def change(self, message: Message | None) -> None:
        if message is not None:
            self._loader.change(pipeline_of(message["pipeline"]), share_of(message["share"]))
