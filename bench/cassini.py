"""How long CASSINI takes to score placements, and how near its descent comes to the best score."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator, Sequence

import numpy as np

from bench.figures import Figure
from harness.scheduling.cassini.circle import UnifiedCircle, unified_circle
from harness.scheduling.cassini.footprints import Footprints, num_ports
from harness.scheduling.cassini.links import ClusterLinks, Footprint
from harness.scheduling.cassini.memo import Rotations
from harness.scheduling.cassini.precision import Precision
from harness.scheduling.cassini.ranking import Ranking, rank
from harness.scheduling.cassini.rotation import best_rotation, descent_rotation, exact_rotation
from traces.arm import Job
from traces.cluster import Cluster
from traces.demand import Demand, DemandCurve, Phase, Transfer
from traces.model_profile import ModelProfile
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.fat_tree import fat_tree

_RUNS = 5
_RATE_BPS = 50e9
_KINDS = 13
_RANDOM_LINKS = 1000
_MOVED_JOBS = 16
_MAX_WORKERS = 12

Placement = list[tuple[str, ...]]


def measure() -> Iterator[Figure]:
    """Medians of five where a run is short; every run begins with nothing searched."""
    yield from _ten_candidates()
    yield from _thousand_candidates()
    yield from _descent_gap()
    _print_costs()


def _ten_candidates() -> Iterator[Figure]:
    rng = np.random.default_rng(1)
    cluster = cassini_24()
    links = ClusterLinks(cluster)
    slots = [server for server in cluster.servers for _ in range(2)]
    demands = _demands(rng, 24)
    sizes = rng.permutation(np.repeat((1, 2, 3), (8, 12, 4)))
    candidates = [_footprints(links, demands, _packed(rng, slots, sizes, 2)) for _ in range(10)]
    ranking, rotations = _ranked(links, candidates, Precision())  # may compile
    taken_s = []
    for _ in range(_RUNS):
        began_s = time.perf_counter()
        ranking, rotations = _ranked(links, candidates, Precision())
        taken_s.append(time.perf_counter() - began_s)
    note = f"cassini-24, two GPUs a server, 24 jobs of {_KINDS} kinds, 5 degrees; median of {_RUNS}"
    value = 1e3 * statistics.median(taken_s)
    yield Figure("cassini.score_10_candidates_ms", value, "ms", 50.0, "at most", None, note)
    print(f"  {_account(ranking, rotations)}", flush=True)


def _thousand_candidates() -> Iterator[Figure]:
    """Sixteen jobs are moved in every candidate, as after the end of their leases.

    From placements to the ranking: a decision but for the policy that names the candidates.
    """
    rng = np.random.default_rng(2)
    cluster = fat_tree(16, _RATE_BPS)
    demands = _demands(rng, 128)
    sizes = rng.integers(2, _MAX_WORKERS + 1, 128)
    first = _packed(rng, cluster.servers, sizes, 4)
    used = set(itertools.chain.from_iterable(first))
    unused = [server for server in cluster.servers if server not in used]
    candidates = []
    for _ in range(1000):
        moved = rng.choice(128, _MOVED_JOBS, replace=False)
        freed = set(unused).union(*(first[job] for job in moved))
        slots = [server for server in cluster.servers if server in freed]
        candidate = list(first)
        for job, servers in zip(moved, _packed(rng, slots, sizes[moved], 4), strict=True):
            candidate[job] = servers
        candidates.append(candidate)
    jobs = _jobs(demands, first)
    _decided(cluster, jobs, candidates[:2])  # may compile
    began_s = time.perf_counter()
    ranking, rotations, placed_s = _decided(cluster, jobs, candidates)
    taken_s = time.perf_counter() - began_s
    note = (
        f"fat-tree of 16 ports, 128 jobs of {sizes.sum()} workers, {_MOVED_JOBS} moved in each; "
        f"one core; {placed_s:.1f} s of it for the demands of their placements"
    )
    yield Figure("cassini.score_1000_candidates_s", taken_s, "s", 10.0, "at most", None, note)
    print(f"  {_account(ranking, rotations)}", flush=True)


def _descent_gap() -> Iterator[Figure]:
    rng = np.random.default_rng(3)
    gaps_pct, exact_s, descent_s = [], 0.0, 0.0
    for number in range(_RANDOM_LINKS):
        circle = _random_circle(rng, 3 + number % 2)
        began_s = time.perf_counter()
        best = exact_rotation(circle).score
        between_s = time.perf_counter()
        found = descent_rotation(circle).score
        descent_s += time.perf_counter() - between_s
        exact_s += between_s - began_s
        gaps_pct.append(100 * (best - found) / abs(best))
    note = (
        f"{_RANDOM_LINKS:,} links of three and four jobs, 5 degrees; exact "
        f"{1e3 * exact_s / _RANDOM_LINKS:.2g} ms a link, descent "
        f"{1e3 * descent_s / _RANDOM_LINKS:.2g} ms"
    )
    mean_pct = statistics.fmean(gaps_pct)
    yield Figure("cassini.descent_gap_mean_pct", mean_pct, "%", 0.1, "at most", None, note)
    yield Figure("cassini.descent_gap_max_pct", max(gaps_pct), "%", 3.0, "at most", None, note)


def _print_costs() -> None:
    """How the time of one search grows with angles and jobs, and that of a placement with links."""
    for degrees in (1.0, 2.0, 5.0, 16.0, 64.0, 128.0):
        costs = [f"{jobs}: {_search_ms(jobs, degrees):.3g}" for jobs in (2, 3, 4, 8)]
        print(f"  ms a link by jobs at {degrees:g} degrees: {', '.join(costs)}", flush=True)
    costs = [f"{jobs}: {_search_ms(jobs, 5.0):.3g}" for jobs in (2, 3, 4, 6, 10, 20)]
    print(f"  ms a link by jobs at 5 degrees: {', '.join(costs)}", flush=True)
    cluster = fat_tree(16, _RATE_BPS)
    links = ClusterLinks(cluster)
    for jobs in (16, 32, 64, 128):
        rng = np.random.default_rng(jobs)
        sizes = rng.integers(2, _MAX_WORKERS + 1, jobs)
        placed = _packed(rng, cluster.servers[: sizes.sum() * 8 // 7], sizes, 4)
        footprints = _footprints(links, _demands(rng, jobs), placed)
        taken_s = []
        for _ in range(_RUNS):
            began_s = time.perf_counter()
            ranking, _ = _ranked(links, [footprints], Precision())
            taken_s.append(time.perf_counter() - began_s)
        shared = len(ranking.interleavings[0].links)
        value = 1e3 * statistics.median(taken_s)
        print(f"  {jobs} jobs, {shared} shared links: {value:.3g} ms", flush=True)


def _search_ms(jobs: int, degrees: float) -> float:
    """Median over random links of one period."""
    taken_s = []
    rng = np.random.default_rng(jobs)
    for _ in range(2 * _RUNS):
        circle = _random_circle(rng, jobs, degrees)
        began_s = time.perf_counter()
        best_rotation(circle)
        taken_s.append(time.perf_counter() - began_s)
    return 1e3 * statistics.median(taken_s)


def _decided(
    cluster: Cluster, jobs: Sequence[Job], candidates: Sequence[Placement]
) -> tuple[Ranking, Rotations, float]:
    """As a scheduler ranks placements that it has not seen; also how long their demands took."""
    began_s = time.perf_counter()
    links = ClusterLinks(cluster)
    known = Footprints(links)
    placed = [
        [known.of(job, servers) for job, servers in zip(jobs, candidate, strict=True)]
        for candidate in candidates
    ]
    placed_s = time.perf_counter() - began_s
    rotations = Rotations(Precision())
    shared = [links.shared_links(each) for each in placed]
    return rank(shared, rotations, "mean", list(map(num_ports, placed))), rotations, placed_s


def _ranked(
    links: ClusterLinks, candidates: Sequence[Sequence[Footprint]], precision: Precision
) -> tuple[Ranking, Rotations]:
    """From placed jobs to scores and shifts, with nothing remembered of an earlier call."""
    rotations = Rotations(precision)
    return rank((links.shared_links(each) for each in candidates), rotations), rotations


def _account(ranking: Ranking, rotations: Rotations) -> str:
    links = statistics.fmean(len(each.links) for each in ranking.interleavings)
    return (
        f"{links:.0f} shared links a candidate, {rotations.searched} of {rotations.asked} "
        f"rotations searched; {len(ranking.order)} candidates kept, {ranking.discarded_by_loops} "
        f"discarded for loops, {ranking.discarded_as_incomparable} as incomparable"
    )


def _demands(rng: np.random.Generator, jobs: int) -> list[Demand]:
    """Each of one of the kinds: 60 to 400 ms of compute, one transfer to three."""
    kinds = []
    for _ in range(_KINDS):
        compute_s = float(rng.uniform(0.06, 0.4))
        share = rng.uniform(0.15, 0.5)
        size = compute_s * share / (1 - share) * _RATE_BPS / 8
        ready = [*sorted(rng.uniform(0.3, 1.0, rng.integers(0, 3)).tolist()), 1.0]
        transfers = (Transfer(compute_s * part, float(size / len(ready))) for part in ready)
        kinds.append(Demand(compute_s, tuple(transfers)))
    return [kinds[kind] for kind in rng.integers(0, _KINDS, jobs)]


def _packed(
    rng: np.random.Generator, slots: Sequence[str], sizes: Sequence[int], block: int
) -> Placement:
    """Jobs of ``sizes`` in random order, with the spare slots between.

    On slots that are in blocks of neighbours, in random order: so most jobs are in several places.
    """
    blocks = [slots[first : first + block] for first in range(0, len(slots), block)]
    slots = [slot for chosen in rng.permutation(len(blocks)) for slot in blocks[chosen]]
    gaps = rng.multinomial(len(slots) - sum(sizes), [1 / len(sizes)] * len(sizes))
    placed: dict[int, tuple[str, ...]] = {}
    at = 0
    for job, gap in zip(rng.permutation(len(sizes)).tolist(), gaps, strict=True):
        placed[job] = tuple(slots[at : at + sizes[job]])
        at += sizes[job] + gap
    return [placed[job] for job in range(len(sizes))]


def _footprints(
    links: ClusterLinks, demands: Sequence[Demand], placed: Placement
) -> list[Footprint]:
    return [links.footprint(job) for job in _jobs(demands, placed)]


def _jobs(demands: Sequence[Demand], placed: Placement) -> list[Job]:
    """A job's path variant is its number, so that jobs spread over equal paths."""
    found = []
    for number, (demand, servers) in enumerate(zip(demands, placed, strict=True)):
        profile = ModelProfile(
            model="random",
            num_gpus=len(servers),
            demand=demand,
            provenance="reconstructed",
            source="random numbers",
        )
        found.append(
            Job(id=f"job{number}", profile=profile, servers=servers, path_variant=number % 64)
        )
    return found


def _random_circle(rng: np.random.Generator, jobs: int, degrees: float = 5.0) -> UnifiedCircle:
    """Jobs of one period with one phase to three, at a quarter of the capacity to all of it."""
    curves = []
    for _ in range(jobs):
        edges = np.sort(rng.uniform(0, 0.2, 2 * rng.integers(1, 4))).tolist()
        rate_bps = rng.uniform(0.25, 1.0) * _RATE_BPS
        stretches = zip(edges[::2], edges[1::2], strict=True)
        curves.append(DemandCurve(0.2, tuple(Phase(*each, rate_bps) for each in stretches)))
    return unified_circle(curves, _RATE_BPS, Precision(degrees))
