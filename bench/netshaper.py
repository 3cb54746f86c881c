"""Networks of namespaces: how fast they stand, how exact their rates are, and Mininet beside."""

from __future__ import annotations

from collections.abc import Iterator

from bench import netshaper_builds, netshaper_rates, netshaper_sharing
from bench.figures import Figure


def measure() -> Iterator[Figure]:
    """Everything stands in namespaces of runs, and is gone at the end. Needs root."""
    yield from netshaper_builds.measure_planning()
    yield from netshaper_builds.measure_against_mininet()
    yield from netshaper_builds.measure_many_hosts()
    yield from netshaper_rates.measure_rates()
    yield from netshaper_sharing.measure_fairness()
    yield from netshaper_sharing.measure_marks()
