"""Footprints of jobs by where they are placed: candidates have most of their jobs in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.scheduling.cassini.links import ClusterLinks, Footprint
from harness.scheduling.cassini.memo import Kept
from traces.arm import Job
from traces.input_pipeline import Share


class Footprints:
    """Of the jobs of one arm, each computed once for the same place; a job is known by its id."""

    def __init__(self, links: ClusterLinks) -> None:
        self._links = links
        self._kept: Kept[tuple[str, tuple[str, ...], Share | None], Footprint] = Kept()

    def of(self, job: Job, servers: tuple[str, ...], share: Share | None = None) -> Footprint:
        """Of ``job`` on ``servers``, where each of its workers has ``share``.

        Raises BadInputError for a sharing that cannot be simulated.
        """
        key = job.id, servers, share
        found = self._kept.get(key)
        if found is None:
            found = self._links.footprint(job.on(servers).with_share(share))
            self._kept.keep(key, found)
        return found


def num_ports(footprints: Sequence[Footprint]) -> int:
    """How many ports carry any of the jobs."""
    used = [each.ports for each in footprints]
    return len(np.unique(np.concatenate(used))) if used else 0
