"""A sweep before anything runs: every point checked as the scenario's reader checks a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.experiments.sweep.identity import Identities, version
from harness.experiments.sweep.points import (
    MOST_POINTS,
    OPTION,
    Variation,
    combinations,
    with_values,
)
from harness.experiments.sweep.work import Point
from traces.errors import BadInputError
from traces.rounds_scenario import SECTIONS as ROUNDS_SECTIONS
from traces.rounds_scenario import is_rounds_scenario
from traces.scenario import SECTIONS
from traces.yaml_source import KeyPath, YamlSource

_SEEDS = "--seeds"


@dataclass(frozen=True)
class SweepPlan:
    """All points of a sweep. definition: what calls that share a directory have in common."""

    scenario: str
    rounds: bool
    points: tuple[Point, ...]
    warnings: tuple[str, ...]
    definition: Mapping[str, Any]


def plan_sweep(
    source: YamlSource, variations: Sequence[Variation], seeds: int | None, *, emulated: bool
) -> SweepPlan:
    """The points of a sweep of the scenario in ``source``.

    seeds: of each point, from the scenario's own on; None where the scenario says how many. Raises
    BadInputError where the scenario or any point of it is none, with the option where that is why.
    Only what a simulation would find while it runs is left to it.
    """
    found = _check(source, emulated=emulated)
    count = found.seeds if seeds is None else seeds
    every = combinations(variations)
    if len(every) * count > MOST_POINTS:
        problem = f"with {count} seeds that is {len(every) * count:,} points"
        raise BadInputError(problem, allowed=f"at most {MOST_POINTS:,}", key=_SEEDS)
    assert isinstance(source.data, dict)  # noqa: S101 - it was checked
    warnings = [each for variation in variations for each in _arms_of_their_own(source, variation)]
    rounds = is_rounds_scenario(source)
    kinds = {variation.key: variation.kind for variation in variations}
    file = source.file.absolute()
    identities = Identities(file.parent, emulated=emulated)
    points = []
    for values in every:
        data = with_values(source.data, variations, values)
        _check_point(source, data, variations, count, emulated=emulated)
        for seed in range(found.first_seed, found.first_seed + count):
            seeded = {**data, "seed": seed, **({"seeds": 1} if rounds else {})}
            identity = identities.of(seeded)[:16]
            points.append(Point(identity, values, kinds, seed, file, seeded, emulated))
    unvaried = with_values(source.data, variations, dict.fromkeys(kinds))
    definition = {
        "scenario": found.name,
        "results": "emulated" if emulated else "simulated",
        "version": version(),
        "keys": kinds,
        "scenario_sha256": identities.of({**unvaried, "seed": None, "seeds": None}),
    }
    return SweepPlan(found.name, rounds, tuple(points), tuple(warnings), definition)


@dataclass(frozen=True)
class _Checked:
    """What a sweep has to know of a sound scenario of any kind."""

    name: str
    first_seed: int
    seeds: int
    is_random: bool


def _check(source: YamlSource, *, emulated: bool) -> _Checked:
    """Raises BadInputError as the verbs do that run one scenario."""
    if is_rounds_scenario(source):
        # Imported here and below: what it compiles takes time to load.
        from harness.experiments.rounds.run import check_arms
        from traces.rounds_scenario import rounds_scenario_of

        rounds = rounds_scenario_of(source)
        check_arms(rounds)
        if emulated:
            from harness.experiments.rounds.emulate import check_emulation

            check_emulation(rounds)
        # check_arms() refused several seeds where they would all be the same.
        return _Checked(rounds.name, rounds.seeds[0], len(rounds.seeds), is_random=True)
    from harness.experiments.run import arms_of
    from traces.scenario import scenario_of

    scenario = scenario_of(source)
    scheduled = any(arm.is_scheduled for arm in arms_of(scenario))
    return _Checked(scenario.name, scenario.seed, 1, is_random=scheduled)


def _check_point(
    source: YamlSource,
    data: dict[str, object],
    variations: Sequence[Variation],
    seeds: int,
    *,
    emulated: bool,
) -> None:
    """Refuse a point that is no scenario, or that would be the same with every seed.

    Emulated, no two runs are the same.
    """
    told_apart = 1 if emulated else seeds
    rounds = is_rounds_scenario(YamlSource(source.file, "", data))
    checked = {**data, "seeds": told_apart} if rounds else data
    varied = _varied(source, checked, [each.path for each in variations])
    try:
        found = _check(varied, emulated=emulated)
    except BadInputError as error:
        raise _from_option(error, variations) from None
    if told_apart > 1 and not found.is_random:
        raise BadInputError(
            "nothing in this scenario is random, so that all seeds are the same",
            allowed="1, or --emulate",
            key=_SEEDS,
        )


def _varied(source: YamlSource, data: dict[str, object], paths: Sequence[KeyPath]) -> YamlSource:
    """``data`` as if the file of ``source`` had it, with the keys at ``paths``."""
    varied = YamlSource(source.file, source.text, data, dict(source.lines))
    for path in paths:
        for length in range(1, len(path) + 1):
            varied.lines.setdefault(path[:length], varied.line_of(path[:length]) or 1)
    return varied


def _from_option(error: BadInputError, variations: Sequence[Variation]) -> BadInputError:
    """``error`` at the option that it comes from: the file alone was sound."""
    where = error.key or ""
    if where == "seeds":
        return BadInputError(error.problem, allowed=error.allowed, key=_SEEDS)
    for variation in variations:
        if f"{variation.key}.".startswith(f"{where}.") or where.startswith(f"{variation.key}."):
            return BadInputError(error.problem, allowed=error.allowed, key=f"{OPTION} {where}")
    keys = ", ".join(variation.key for variation in variations)
    problem = f"{error.problem} (with {keys} as varied)"
    return BadInputError(
        problem, allowed=error.allowed, file=error.file, line=error.line, key=error.key
    )


def _arms_of_their_own(source: YamlSource, variation: Variation) -> list[str]:
    """Warnings of arms that have a value of their own. BadInputError where all have, or where a
    key of an arm is varied that is not there."""
    assert isinstance(source.data, dict)  # noqa: S101 - it was checked
    arms = source.data.get("arms") or {}
    section, *keys = variation.path
    if section == "arms":
        if not keys or str(keys[0]) not in arms:
            raise BadInputError(
                f"there is no arm {keys[0] if keys else ''!r}",
                allowed=", ".join(arms) or "no arms in this scenario",
                key=f"{OPTION} {variation.key}",
            )
        return []
    sections = ROUNDS_SECTIONS if is_rounds_scenario(source) else SECTIONS
    if section not in sections:
        return []
    own = [arm for arm, changes in arms.items() if _has_own(changes, section, keys)]
    if arms and len(own) == len(arms):
        name = f"arms.ARM.{variation.key}"
        raise BadInputError(
            "every arm has a value of its own, so that nothing would change",
            allowed=f"{name}, or a key that the arms leave alone",
            key=f"{OPTION} {variation.key}",
        )
    return [
        f"arm {arm} has its own {section}.{keys[0] if keys else ''}, which {OPTION} "
        f"{variation.key} does not change"
        for arm in own
    ]


def _has_own(changes: object, section: str | int, keys: Sequence[str | int]) -> bool:
    own = changes.get(section) if isinstance(changes, dict) else None
    if isinstance(own, dict):
        return bool(keys) and keys[0] in own
    return isinstance(own, list)
