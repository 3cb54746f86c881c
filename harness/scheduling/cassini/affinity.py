"""The affinity graph (section 4): from a rotation on each link to one time-shift a job. Pure.

The graph is bipartite: jobs, links that carry more than one of them, and an edge wherever a job
uses such a link. The weight of an edge is the job's time-shift by the link's own rotation. On one
link only the differences of shifts count, so the rotations of two links that share a job can be
brought into step by turning one of them as a whole.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.scheduling.cassini.periods import within_period


@dataclass(frozen=True)
class WeightedLink:
    """A link of the graph with its edges. weights_s: shape (jobs,), a delay for each job."""

    jobs: tuple[str, ...]
    weights_s: tuple[float, ...]


@dataclass(frozen=True)
class Traversal:
    """shifts_s: of every job, from 0 to below its period.

    loops: independent ones, which is the number of edges that were not followed. closed_by:
    positions of the links that those edges belong to; all others have their rotation.
    """

    shifts_s: Mapping[str, float]
    loops: int
    closed_by: tuple[int, ...]


def connected(links: Sequence[Sequence[str]]) -> list[list[int]]:
    """Positions of the links of each connected component, given the jobs on every link."""
    links_of = _links_of(links)
    components: list[list[int]] = []
    seen: set[int] = set()
    for first in range(len(links)):
        if first in seen:
            continue
        seen.add(first)
        component, waiting = [], deque([first])
        while waiting:
            component.append(waiting.popleft())
            for job in links[component[-1]]:
                fresh = [link for link in links_of[job] if link not in seen]
                seen.update(fresh)
                waiting.extend(fresh)
        components.append(sorted(component))
    return components


def traverse(links: Sequence[WeightedLink], periods_s: Mapping[str, float]) -> Traversal:
    """Breadth first over the jobs of one connected component (Algorithm 1).

    From job k over link l to job j: t_j = (t_k - w_kl + w_jl) mod period of j. The first job of the
    first link begins with 0; from another one all shifts would be the same but for a common delay.
    ``links`` are followed in their order where there is a choice, so of a loop it is the last that
    is left open. Without loops every link has the rotation that it had by itself (Theorem 1).
    """
    links_of = _links_of([link.jobs for link in links])
    reference = links[0].jobs[0]
    shifts_s = {reference: 0.0}
    waiting = deque([reference])
    reached: set[int] = set()
    loops, closed_by = 0, []
    while waiting:
        job = waiting.popleft()
        for position in links_of[job]:
            if position in reached:
                continue
            reached.add(position)
            link = links[position]
            turned_s = shifts_s[job] - link.weights_s[link.jobs.index(job)]
            known = [other for other in link.jobs if other in shifts_s]
            loops += len(known) - 1
            if len(known) > 1:
                closed_by.append(position)
            for other, weight_s in zip(link.jobs, link.weights_s, strict=True):
                if other not in shifts_s:
                    shifts_s[other] = within_period(turned_s + weight_s, periods_s[other])
                    waiting.append(other)
    return Traversal(shifts_s, loops, tuple(closed_by))


def _links_of(links: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    links_of: dict[str, list[int]] = defaultdict(list)
    for position, jobs in enumerate(links):
        for job in jobs:
            links_of[job].append(position)
    return links_of
