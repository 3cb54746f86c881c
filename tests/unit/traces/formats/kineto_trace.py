"""A Kineto trace as torch.profiler writes it, event by event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from traces.communication_trace import CommunicationImport, ImportOptions
from traces.formats.communication_formats import import_communication

COMPUTE_STREAM, NCCL_STREAM = 7, 40


def import_kineto(*files: Path, model: str | None = None) -> CommunicationImport:
    return import_communication(files, "kineto", ImportOptions(model))


class Trace:
    """Builds a trace; times in milliseconds from the begin of the trace."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.header: dict[str, Any] = {
            "distributedInfo": {"rank": 0, "world_size": 4, "nccl_version": "2.17.1"},
            "deviceProperties": [{"id": 0, "name": "Test GPU"}],
        }
        self._next_id = 1

    def _add(
        self, category: str, name: str, start: float, length: float, tid: int = 1, **args: Any
    ) -> None:
        self.events.append(
            {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": tid}
            | {"ts": 5e6 + start * 1e3, "dur": length * 1e3, "args": args}
        )

    def _launch(self, at: float | None) -> int:
        self._next_id += 1
        if at is not None:
            self._add("cuda_runtime", "cudaLaunchKernel", at, 0.001, correlation=self._next_id)
        return self._next_id

    def step(self, number: int, start: float, length: float) -> None:
        self._add("user_annotation", f"ProfilerStep#{number}", start, length)
        self._add("gpu_user_annotation", f"ProfilerStep#{number}", start, length)

    def compute(self, start: float, length: float, launch: float | None) -> None:
        correlation = self._launch(launch)
        self._add("kernel", "gemm", start, length, COMPUTE_STREAM, correlation=correlation)

    def collective(
        self,
        start: float,
        length: float,
        issued: float,
        elements: int = 1000,
        name: str = "allreduce",
        dtype: str = "Float",
        group: int = 4,
        record: bool = True,
        kernel: bool = True,
        **more: Any,
    ) -> None:
        correlation = self._launch(issued)
        args: dict[str, Any] = {
            "External id": self._next_id,
            "Collective name": name,
            "dtype": dtype,
            "In msg nelems": elements,
            "Out msg nelems": elements // 2,
            "Group size": group,
        } | more
        if record:
            self._add("cpu_op", "record_param_comms", issued, 0.1, **args)
        if kernel:
            # Kernels of records carry the id only, so that the join is what is tested.
            noted: dict[str, Any] = {"External id": self._next_id} if record else args
            self._add(
                "kernel", "ncclKernel_X", start, length, NCCL_STREAM, **noted,
                correlation=correlation,
            )  # fmt: skip

    def coalesced(self, start: float, length: float, issued: float) -> None:
        """A kernel that names no collective, as the end of a group launches it."""
        correlation = self._launch(issued)
        self._add("kernel", "ncclDevKernel_X", start, length, NCCL_STREAM, correlation=correlation)

    def copy(self, name: str, start: float, length: float) -> None:
        self._add("gpu_memcpy", name, start, length, tid=COMPUTE_STREAM + 1)

    def wait_of_host(self, start: float, length: float) -> None:
        self._add("cuda_runtime", "cudaDeviceSynchronize", start, length)

    def document(self) -> dict[str, Any]:
        return {**self.header, "traceEvents": self.events, "traceName": "t"}

    def run(self, folder: Path) -> CommunicationImport:
        file = folder / "trace.json"
        file.write_text(json.dumps(self.document(), indent=1), encoding="utf-8")
        return import_kineto(file)


def overlapped(trace: Trace, number: int, begin: float, slower: float = 0.0) -> None:
    """One step of 100 ms: backward to 60, two all-reduces, the optimizer waits for the second.

    slower: ms that the second all-reduce takes longer, which the step then does too.
    """
    trace.step(number, begin, 100 + slower)
    trace.compute(begin + 1, 39, launch=begin + 1)
    trace.collective(begin + 40, 15, issued=begin + 39, elements=1000)
    trace.compute(begin + 40, 20, launch=begin + 2)
    trace.collective(begin + 60, 20 + slower, issued=begin + 59, elements=3000)
    trace.compute(begin + 80 + slower, 10, launch=begin + 59.5)
