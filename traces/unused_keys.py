"""Keys of a scenario that no arm has a use for. They are refused, for they would change nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from traces.errors import BadInputError

if TYPE_CHECKING:
    from traces.scenario import ScenarioSpec
    from traces.scenario_file import ScenarioFile


def check_used(file: ScenarioFile[ScenarioSpec], arms: Mapping[str, ScenarioSpec]) -> None:
    """Refuse a key without effect: one of an arm that this arm does not use, and one of the base
    that no arm uses which takes it from there.

    arms: each with its changes, by name. Raises BadInputError where the key stands.
    """
    lines = file.source.lines
    for (section, key), (is_used, needs) in _USES.items():
        takes_base = []
        for arm, spec in arms.items():
            if ("arms", arm, section, key) not in lines:
                takes_base.append(spec)
            elif not is_used(spec):
                raise file.error(arm, (section, key), f"{key!r} changes nothing", needs)
        if (section, key) in lines and takes_base and not any(map(is_used, takes_base)):
            where = f"{section}.{key}"
            raise file.locate(BadInputError(f"{key!r} changes nothing", allowed=needs, key=where))


def _is_scheduled(spec: ScenarioSpec) -> bool:
    return spec.scheduler.placement != "given"


def _compares_placements(spec: ScenarioSpec) -> bool:
    return _is_scheduled(spec) and spec.scheduler.interleaver == "cassini"


def _rotates(spec: ScenarioSpec) -> bool:
    """Also without an interleaver, where jobs have their servers, their score is told."""
    if _is_scheduled(spec):
        return spec.scheduler.interleaver == "cassini"
    return not spec.cluster.dedicated


def _may_be_shifted(spec: ScenarioSpec) -> bool:
    """Jobs that have copies of the cluster meet nobody. Scheduled ones cannot have them."""
    return spec.scheduler.interleaver == "none" or _is_scheduled(spec) or not spec.cluster.dedicated


def _divides(spec: ScenarioSpec) -> bool:
    return spec.scheduler.mechanism != "none"


_PLACEMENT = "it away, or beside a scheduler.placement other than 'given'"
_MECHANISM = "it away, or beside a scheduler.mechanism other than 'none'"
_COMPARED = f"{_PLACEMENT}, with the interleaver cassini"

_USES: dict[tuple[str, str], tuple[Callable[[ScenarioSpec], bool], str]] = {
    ("cluster", "gpus"): (_is_scheduled, _PLACEMENT),
    ("cluster", "cpus"): (_divides, _MECHANISM),
    ("cluster", "memory"): (_divides, _MECHANISM),
    ("scheduler", "round"): (_is_scheduled, _PLACEMENT),
    ("scheduler", "restart"): (_is_scheduled, _PLACEMENT),
    ("scheduler", "candidates"): (_compares_placements, _COMPARED),
    ("scheduler", "ranking"): (_compares_placements, _COMPARED),
    ("scheduler", "precision"): (_rotates, "it away, or where the circles of jobs are compared"),
    ("scheduler", "interleaver"): (_may_be_shifted, "it away, or a cluster that is not dedicated"),
}
"""By section and key: whether a variant of the scenario uses it, and what is allowed."""
