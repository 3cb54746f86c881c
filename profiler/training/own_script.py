"""A person's own script: what is said of it, and the one conductor of its process."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import torch

from profiler.loading.feed import FeedDescription
from profiler.training.conductor import Conductor
from profiler.training.link import profiler_link
from profiler.training.machine import device_name, gpu_uuid, versions
from profiler.training.protocol import Ready


@functools.cache
def script_conductor() -> Conductor | None:
    """For the training loop of the script; None where no profiler started it."""
    link = profiler_link()
    if link is None:
        return None
    return Conductor(link, _introduced, torch.get_num_threads())


def _introduced(feed: FeedDescription, device: torch.device) -> Ready:
    return Ready(
        model=Path(sys.argv[0]).stem,
        kind="script",
        batch_size=feed.batch_size,
        device=str(device),
        device_name=device_name(device),
        loader=feed.loader,
        dataset_items=feed.items,
        dataset_bytes=feed.total_bytes,
        epoch_iterations=feed.epoch_batches,
        skipped=feed.skipped,
        options={"command": sys.argv, "gpu_uuid": gpu_uuid(device)},
        not_followed=feed.not_followed,
        versions=versions(),
    )
