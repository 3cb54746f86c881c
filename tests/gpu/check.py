"""python -m tests.gpu.check: what the profiler finds on this machine's GPU, in under eight minutes.

One image model and one language model train for real on made data, so that nothing is downloaded;
each gets a profile in gpu-check/. The image model is loaded by torch, and by DALI where that is
installed. A third job trains data-parallel over NCCL on all GPUs, followed by torch.profiler.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.gpu import nccl

DIRECTORY = Path("gpu-check")
BUDGET_S = 8
_CASE_LIMIT_S = 135.0
_ROUNDELAY = str(Path(sys.executable).with_name("roundelay"))


@dataclass(frozen=True)
class Case:
    """One profile. options: of the command."""

    name: str
    options: Sequence[str]


_IMAGE = ("--model", "resnet18", "--batch-size", "128", "--precision", "bf16", "--channels-last")


def cases() -> list[Case]:
    """Those that this machine has the packages for."""
    found = [Case("image", _IMAGE)]
    if _is_installed("nvidia-dali-cuda120"):
        found.append(Case("image-dali", (*_IMAGE, "--loader", "dali")))
    found.append(Case("language", ("--model", "transformer", "--precision", "bf16")))
    return found


def _is_installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def why_no_gpu() -> str | None:
    """Why nothing can be checked here; None where it can."""
    if not Path("/dev/nvidiactl").exists():
        return "there is no NVIDIA GPU here (no /dev/nvidiactl)"
    try:
        import torch
    except ImportError:
        return "torch is not installed (pip install 'roundelay[real]')"
    return None if torch.cuda.is_available() else "torch finds no usable GPU (its driver, or CUDA)"


def run_case(case: Case, directory: Path) -> dict[str, Any]:
    """The profile's document. CalledProcessError or TimeoutExpired where there is none."""
    words = [
        *(_ROUNDELAY, "profile", "sensitivity", *case.options),
        *("--device", "cuda", "--memory", "100%", "--budget", f"{BUDGET_S} s"),
        *("-o", str(directory / case.name), "--json"),
    ]
    done = subprocess.run(words, stdout=subprocess.PIPE, timeout=_CASE_LIMIT_S, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def table(documents: dict[str, dict[str, Any]]) -> Table:
    """A row a case."""
    shown = Table(title="GPU check")
    for heading in (
        "profile", "GPU", "CPUs", "ideal", "iteration", "speed-up", "utilisation", "power", "drift",
    ):  # fmt: skip
        shown.add_column(heading)
    for name, document in documents.items():
        curve, cpus = document["curve"]["iteration_s"], document["cpus"]
        gpu = gpu_evidence(document)
        shown.add_row(
            name,
            document["gpu_type"],
            f"{cpus[0]:g} to {cpus[-1]:g}",
            f"{document['curve']['ideal_cpus']:g}",
            f"{curve[-1] * 1e3:.1f} ms",
            f"{curve[0] / curve[-1]:.2f}",
            f"{gpu['utilisation']['mean']:.0%}" if gpu.get("utilisation") else "-",
            f"{gpu['power_w']['mean']:.0f} W" if gpu.get("power_w") else "-",
            (document["drift"] or {}).get("verdict", "unknown"),
        )
    return shown


def gpu_evidence(document: dict[str, Any]) -> dict[str, Any]:
    """What NVML told of the first point, which had the most CPUs; empty where nothing."""
    return document["points"][0]["evidence"].get("point", {}).get("gpu") or {}


def _check_nccl(console: Console, directory: Path) -> bool:
    """Whether torch.profiler says of NCCL what the job sends."""
    import torch  # absent where there is no GPU to check

    directory.mkdir(parents=True)
    try:
        sent = nccl.record(torch.cuda.device_count(), directory)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        console.print(f"nccl: {error}")
        return False
    console.print(str(sent))
    return sent.is_right


def main() -> int:
    console = Console()
    reason = why_no_gpu()
    if reason is not None:
        console.print(f"skipped: {reason}")
        return 3
    directory = DIRECTORY / time.strftime("%Y%m%d-%H%M%S")
    documents, failed = {}, False
    for case in cases():
        try:
            documents[case.name] = run_case(case, directory)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            console.print(f"{case.name}: {error}")
            failed = True
    console.print(table(documents))
    failed |= not _check_nccl(console, directory / "nccl")
    console.print(f"profiles: {directory.resolve()}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
