"""Keys of a scenario that no arm has a use for. They are refused, for they would change nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from traces.errors import BadInputError
from traces.yaml_source import KeyPath

if TYPE_CHECKING:
    from traces.scenario_file import ScenarioFile
    from traces.scenario_spec import ScenarioSpec


def check_used(file: ScenarioFile[ScenarioSpec], arms: Mapping[str, ScenarioSpec]) -> None:
    """Refuse a key without effect: one of an arm that this arm does not use, and one of the base
    that no arm uses which takes it from there.

    arms: each with its changes, by name. Raises BadInputError where the key stands, the first in
    the file.
    """
    for path in dict.fromkeys(map(_without_arm, file.source.lines)):
        use = _USES.get(tuple(part for part in path if isinstance(part, str)))
        if use is not None:
            _check_path(file, arms, path, *use)


def _without_arm(path: KeyPath) -> KeyPath:
    return path[2:] if path[:1] == ("arms",) else path


def _check_path(
    file: ScenarioFile[ScenarioSpec],
    arms: Mapping[str, ScenarioSpec],
    path: KeyPath,
    is_used: Callable[[ScenarioSpec], bool],
    needs: str,
) -> None:
    """The same for one key. An arm that changes ``jobs`` has none of the base's."""
    lines, problem = file.source.lines, f"{path[-1]!r} changes nothing"
    takes_base = []
    for arm, spec in arms.items():
        if ("arms", arm, *path[:2]) not in lines:
            takes_base.append(spec)
        elif ("arms", arm, *path) in lines and not is_used(spec):
            raise file.error(arm, path, problem, needs)
    if path in lines and takes_base and not any(map(is_used, takes_base)):
        where = ".".join(map(str, path))
        raise file.locate(BadInputError(problem, allowed=needs, key=where))


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


def _is_placed_in_the_file(spec: ScenarioSpec) -> bool:
    return not _is_scheduled(spec)


def _divides(spec: ScenarioSpec) -> bool:
    return spec.scheduler.mechanism != "none"


_PLACEMENT = "it away, or beside a scheduler.placement other than 'given'"
_MECHANISM = "it away, or beside a scheduler.mechanism other than 'none'"
_COMPARED = f"{_PLACEMENT}, with the interleaver cassini"

_USES: dict[KeyPath, tuple[Callable[[ScenarioSpec], bool], str]] = {
    ("cluster", "gpus"): (_is_scheduled, _PLACEMENT),
    ("cluster", "cpus"): (_divides, _MECHANISM),
    ("cluster", "memory"): (_divides, _MECHANISM),
    ("workload", "jobs", "input_pipeline"): (_divides, _MECHANISM),
    ("workload", "jobs", "command"): (
        _is_placed_in_the_file,
        "it away, for a scheduler moves replayed jobs only",
    ),
    ("scheduler", "round"): (_is_scheduled, _PLACEMENT),
    ("scheduler", "restart"): (_is_scheduled, _PLACEMENT),
    ("scheduler", "candidates"): (_compares_placements, _COMPARED),
    ("scheduler", "ranking"): (_compares_placements, _COMPARED),
    ("scheduler", "precision"): (_rotates, "it away, or where the circles of jobs are compared"),
    ("scheduler", "interleaver"): (_may_be_shifted, "it away, or a cluster that is not dedicated"),
}
"""By the names on the way to a key: whether a variant of the scenario uses it, and what is allowed.
"""
