"""A trainer's handle on the loader: the process that runs its input pipeline."""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from emulator.cgroups import join_group
from emulator.messages import Message, MessageSocket
from emulator.training.cpu_work import work_of
from emulator.training.epoch_order import position_after
from emulator.training.pipeline import STAMP, InputPipeline, first_steps
from emulator.training.shared_progress import SharedProgress, Word
from emulator.training.specification import (
    LoaderReport,
    LoaderSpecification,
    Pipeline,
    PipelineShare,
    PipelineState,
    pipeline_of,
    share_of,
)
from netshaper.namespaces import enter_namespace
from netshaper.parent_death import end_with_parent
from traces.errors import EmulationError

_ANSWER_TIMEOUT_S = 60.0
"""A loader that is held to its least CPU time has some tens of milliseconds of it in this time."""

# Over the control socket go, to the loader: {do: taken}, {do: resume, length_s} and {do: change,
# pipeline, share}; only the last has a reply: {dissolved_steps}. Ready steps come through a pipe, a
# STAMP each. Before all comes, from it, {event: ready}. What has to work at once, the pause and the
# report, is in the memory that both share.


class LoaderLostError(EmulationError):
    """The loader has ended. status: see ``Loader.exit_status``."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(f"the input pipeline of a worker ended with status {status}")


class Loader:
    """One loader process, which ends with the process that started it."""

    def __init__(
        self,
        specification: LoaderSpecification,
        pid: int,
        shared: SharedProgress,
        ready_descriptor: int,
        control: MessageSocket,
    ) -> None:
        self._pid = pid
        self._shared = shared
        self._ready_descriptor = ready_descriptor
        self._control = control
        self._pipeline = specification.pipeline
        first = first_steps(specification)
        self._taken, self._prepared_before = first.taken, first.prepared
        self._status: int | None = None

    @classmethod
    def start(cls, specification: LoaderSpecification, join_paths: Sequence[Path]) -> Loader:
        """Fork the loader into the cgroups ``join_paths``. It is paused until ``resume``.

        The calling process must have one thread. Steps of the state that stand ready can be taken
        at once. Raises MissingCapabilityError where the work takes what is not installed,
        LoaderLostError where the loader does not come up.
        """
        work_of(specification.work)
        shared = SharedProgress(specification.pipeline.dataset_items)
        shared[Word.PAUSED] = 1
        shared.publish_cached(specification.state.cached)
        ready_descriptor, hand_over_descriptor = os.pipe()
        ours, theirs = socket.socketpair()
        for _ in range(_steps_handed_over(specification)):
            os.write(hand_over_descriptor, STAMP.pack(time.monotonic()))
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            end_with_parent(parent)
            _close_all_but({0, 1, 2, hand_over_descriptor, theirs.fileno()})
            _run_loader(
                specification, join_paths, shared, hand_over_descriptor, MessageSocket(theirs)
            )
        os.close(hand_over_descriptor)
        theirs.close()
        ours.settimeout(_ANSWER_TIMEOUT_S)
        loader = cls(specification, pid, shared, ready_descriptor, MessageSocket(ours))
        try:
            loader._hear()
        except EmulationError:
            loader.close()
            raise
        return loader

    def fileno(self) -> int:
        """Readable when a step is ready, or the loader has ended."""
        return self._ready_descriptor

    def take(self, deadline_s: float) -> float | None:
        """Take one step; when it became ready, or None where none was by ``deadline_s``.

        Both on the monotonic clock. Raises LoaderLostError where the loader has ended.
        """
        wait_s = max(0.0, deadline_s - time.monotonic())
        if not select.select([self._ready_descriptor], [], [], wait_s)[0]:
            return None
        stamp = os.read(self._ready_descriptor, STAMP.size)
        if not stamp:
            raise self._lost()
        self._taken += self._pipeline.items
        self._send({"do": "taken"})
        return float(STAMP.unpack(stamp)[0])

    def pause(self) -> None:
        """Stop everything, at once where the loader has the CPU."""
        self._shared[Word.PAUSED] = 1

    def resume(self, length_s: float | None = None) -> None:
        """Go on; if it is known, for ``length_s`` until the next pause."""
        self._shared[Word.PAUSED] = 0
        self._send({"do": "resume", "length_s": length_s})

    def change(self, pipeline: Pipeline, share: PipelineShare) -> None:
        """Go on with other amounts, of the same dataset; memory is given back on return.

        Where steps have other sizes, items that stand ready are cut anew. Raises LoaderLostError,
        and EmulationError where the loader does not answer.
        """
        before = self._pipeline
        if (pipeline.item_bytes, pipeline.dataset_items) != (
            before.item_bytes,
            before.dataset_items,
        ):
            raise ValueError("another dataset takes another loader")
        self._send({"do": "change", "pipeline": asdict(pipeline), "share": asdict(share)})
        reply = self._hear()
        for _ in range(reply["dissolved_steps"]):
            os.read(self._ready_descriptor, STAMP.size)
        self._pipeline = pipeline

    def report(self) -> LoaderReport:
        """What the loader has done, read from shared memory. While paused it stands still."""
        shared, dataset_items = self._shared, self._pipeline.dataset_items
        return LoaderReport(
            state=PipelineState(
                position=position_after(self._taken, dataset_items),
                cached=shared.cached,
                ready_items=self._prepared_before + shared[Word.PREPARED] - self._taken,
            ),
            hits=shared[Word.HITS],
            misses=shared[Word.MISSES],
            fetched_bytes=shared[Word.FETCHED_BYTES],
            prepared_items=shared[Word.PREPARED],
            cpu_s=shared[Word.CPU_NS] / 1e9,
            demanded_cpu_s=shared[Word.DEMANDED_NS] / 1e9,
            epoch_hits=shared.epoch_hits,
        )

    def exit_status(self) -> int | None:
        """None while it runs; then its status, or minus the signal (-9: also out of memory)."""
        self._wait(os.WNOHANG)
        return self._status

    def close(self) -> None:
        """End the loader."""
        if self.exit_status() is None:
            os.kill(self._pid, signal.SIGKILL)
            self._wait()
        self._control.close()
        os.close(self._ready_descriptor)

    def _hear(self) -> Message:
        try:
            message = self._control.receive()
        except TimeoutError:
            raise EmulationError(
                f"an input pipeline did not answer in {_ANSWER_TIMEOUT_S:.0f} s"
            ) from None
        if message is None:
            raise self._lost()
        return message

    def _send(self, message: dict[str, object]) -> None:
        try:
            self._control.send(message)
        except ConnectionError:
            raise self._lost() from None

    def _lost(self) -> LoaderLostError:
        self._wait()
        return LoaderLostError(self._status or 0)

    def _wait(self, options: int = 0) -> None:
        if self._status is None:
            pid, status = os.waitpid(self._pid, options)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)


def _steps_handed_over(specification: LoaderSpecification) -> int:
    first = first_steps(specification)
    return (first.handed_over - first.taken) // first.items


def _run_loader(
    specification: LoaderSpecification,
    join_paths: Sequence[Path],
    shared: SharedProgress,
    hand_over_descriptor: int,
    control: MessageSocket,
) -> NoReturn:
    """The loader process ends here, whatever happens."""
    status = 1
    try:
        if specification.namespace is not None:
            enter_namespace(specification.namespace)
        pipeline = InputPipeline(specification, shared, hand_over_descriptor)
        # Coming up takes CPU time that no lease is meant to pay for: milliseconds, which the
        # smallest quotas would stretch to a second.
        for path in join_paths:
            join_group(path)
        pipeline.start()
        control.send({"event": "ready"})
        while (order := control.receive()) is not None:
            if order["do"] == "taken":
                pipeline.take()
            elif order["do"] == "resume":
                pipeline.resume(order["length_s"])
            else:
                dissolved = pipeline.change(
                    pipeline_of(order["pipeline"]), share_of(order["share"])
                )
                control.send({"dissolved_steps": dissolved})
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def _close_all_but(kept: Collection[int]) -> None:
    """What the trainer had open is not the loader's to keep open."""
    for entry in list(Path("/proc/self/fd").iterdir()):
        if int(entry.name) not in kept:
            with suppress(OSError):  # one is that of the listing itself
                os.close(int(entry.name))
