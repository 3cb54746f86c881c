"""A real training job of two machines that is started as ever, and counted on one of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernel.command import ROUNDELAY
from tests.kernel.two_machines import DEVICE, on, two_machines
from traces.formats.kineto_events import read_kineto_events

pytestmark = pytest.mark.undisturbed

WIDTH = 1024
GRADIENT_BYTES = 2 * (WIDTH * WIDTH + WIDTH) * 4
ITERATIONS = 20
MASTER_PORT = 29_411

# It says nothing of its iterations.
JOB = f"""
import time
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    network = torch.nn.Sequential(*(torch.nn.Linear({WIDTH}, {WIDTH}) for _ in range(2)))
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(200):
        time.sleep(0.1)
        optimizer.zero_grad()
        model(torch.randn(4, {WIDTH})).square().mean().backward()
        optimizer.step()
"""


def test_an_unchanged_script_under_torchrun_is_followed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "train.py"
    script.write_text(JOB)
    output = tmp_path / "out"
    with two_machines() as machines:
        environment = os.environ | {"GLOO_SOCKET_IFNAME": DEVICE, "OMP_NUM_THREADS": "1"}

        def torchrun(rank: int) -> tuple[str, ...]:
            return (
                str(Path(sys.executable).with_name("torchrun")), "--nnodes", "2",
                "--node-rank", str(rank), "--master-addr", machines.address,
                "--master-port", str(MASTER_PORT), str(script),
            )  # fmt: skip

        other = subprocess.Popen(
            (*on(machines.other), *torchrun(1)),
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            done = subprocess.run(
                (
                    *on(machines.one), str(ROUNDELAY), "profile", "network", "--kineto",
                    "--iterations", str(ITERATIONS), "-o", str(output), "--json", "--",
                    *torchrun(0),
                ),
                env=environment, capture_output=True, text=True, check=False, timeout=240,
            )  # fmt: skip
        finally:
            other.terminate()
            other.wait()
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["marked_bytes"]["value"] == pytest.approx(GRADIENT_BYTES, rel=0.02)
    # Nothing shapes this link: a burst is as uneven as the sender.
    sent_bytes = sum(transfer["bytes"] for transfer in found["profile"]["demand"]["transfers"])
    assert sent_bytes == pytest.approx(GRADIENT_BYTES, rel=0.05)
    assert found["timer_s"]["value"] > 0.1
    (recording,) = found["kineto"]
    trace = Path(recording["trace"])
    assert trace == output / "kineto" / "rank0.json.gz"
    events = read_kineto_events(trace)
    assert len(events.steps) == 5
    assert (events.rank, events.world_size) == (0, 2)
    # gloo tells the profiler no sizes, and that is said.
    assert recording["problem"].startswith("has no collectives")
    assert "not of gloo's" in done.stderr
