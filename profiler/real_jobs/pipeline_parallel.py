"""A pipeline of two stages of real torch over gloo: activations go one way, gradients the other.

    sudo roundelay profile network --hosts 2 --link '100 Mbit/s' --link '50 Mbit/s' \
        -- python -m profiler.real_jobs.pipeline_parallel

With four hosts there are two such pipelines, whose stages average their gradients.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch
import torch.distributed as dist

from emulator.iterations import iteration_done

WIDTH = 512
BATCH = 256


def main() -> None:
    """Train until the run is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--storage", type=float, default=0.28, help="seconds until a batch is there"
    )
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    stage, pipeline = rank % 2, rank // 2
    peers: list[Any] = [dist.new_group(list(range(first, ranks, 2))) for first in range(2)]
    network = torch.nn.Linear(WIDTH, WIDTH)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    while True:
        optimizer.zero_grad()
        if stage == 0:
            time.sleep(given.storage)  # the batch comes from storage
            output = network(torch.randn(BATCH, WIDTH))
            dist.send(output.detach(), 2 * pipeline + 1)
            gradient = torch.empty_like(output)
            dist.recv(gradient, 2 * pipeline + 1)
            output.backward(gradient)
        else:
            activations = torch.empty(BATCH, WIDTH)
            dist.recv(activations, 2 * pipeline)
            network(activations.requires_grad_()).square().mean().backward()
            dist.send(_gradient_of(activations), 2 * pipeline)
        if ranks > 2:
            for parameter in network.parameters():
                dist.all_reduce(_gradient_of(parameter), group=peers[stage])
        optimizer.step()
        iteration_done()


def _gradient_of(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.grad is None:
        raise RuntimeError("backward left a tensor without a gradient")
    return tensor.grad


if __name__ == "__main__":
    main()
