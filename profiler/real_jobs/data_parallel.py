"""A data-parallel job of real torch: a small network, DistributedDataParallel over gloo.

    sudo roundelay profile network --hosts 2 --link '100 Mbit/s' \\
        -- python -m profiler.real_jobs.data_parallel

Batches come from a loader that waits for its storage, as one does on a slow disk, so that two cores
are enough for several ranks.
"""

from __future__ import annotations

import argparse
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from emulator.iterations import iteration_done

BATCH = 4


def main() -> None:
    """Train until the run is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=512, help="of the two layers")
    parser.add_argument("--storage", type=float, default=0.2, help="seconds until a batch is there")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    network = torch.nn.Sequential(
        torch.nn.Linear(given.width, given.width),
        torch.nn.ReLU(),
        torch.nn.Linear(given.width, given.width),
    )
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    while True:
        time.sleep(given.storage)
        batch = torch.randn(BATCH, given.width)
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
        iteration_done()


if __name__ == "__main__":
    main()
