"""A data-parallel job, over NCCL on GPUs and over gloo without, as a person would write it."""

from __future__ import annotations

import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

_ITERATIONS = 20
_BATCH = 4


def main(width: int) -> None:
    """width: of its two layers."""
    rank = int(os.environ["LOCAL_RANK"])
    has_gpu = torch.cuda.is_available()
    device = torch.device("cuda", rank) if has_gpu else torch.device("cpu")
    if has_gpu:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if has_gpu else "gloo")
    network = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(2))).to(device)
    model = DistributedDataParallel(network, device_ids=[rank] if has_gpu else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(_ITERATIONS):
        optimizer.zero_grad()
        model(torch.randn(_BATCH, width, device=device)).square().mean().backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]))
