"""Synergy's load sweeps: what TUNE gains on 128 GPUs over the GPU-proportional share.

(OSDI'22; figures 7 and 8 of its artifact.) Jobs of one GPU, and jobs of 1 to 8; four policies.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness.experiments.intervals import Interval
from harness.experiments.reproduce.comparisons import (
    NOTHING_PUBLISHED,
    Published,
    Statistic,
    curve,
    figure,
    joined,
    mean_h,
    mean_of,
    not_made,
    ran_dry_note,
    ratio_of,
)
from harness.experiments.reproduce.data_files import ORACLE, found
from harness.experiments.reproduce.recipe import (
    Curve,
    Drawing,
    Recipe,
    ReproducedFigure,
    Reproduction,
    Say,
)
from harness.experiments.reproduce.simulated import Runs, Simulated, Simulation, simulate_all
from harness.experiments.reproduce.synergy import (
    BALANCED,
    HEADLINE_SPLIT,
    ONE_SEED_NOTE,
    PAPER,
    PROPORTIONAL,
    SAME_SEED,
    SAME_SEED_NOTE,
    SEED_SPREAD,
    TUNE,
    TUNE_NOTES,
    TUNES,
    WALK,
    generated,
    replayed,
    scenario,
    seeds_of,
)

_MECHANISMS = (PROPORTIONAL, *TUNES)
_SHORT_H = 4.0
_SEEDS = 4
_PAPERS_SEED = 42
_SINGLE, _MULTI, _PAPERS_TRACE = "single-GPU", "multi-GPU", "the paper's trace"
_MIXES = {_SINGLE: "single", _MULTI: "gavel"}
_POLICIES = ("fifo", "srtf", "las", "ftf", "ftf-published")

_LOADS: Mapping[tuple[str, str], Sequence[float]] = {
    (_SINGLE, "fifo"): (5, 6, 7, 8, 9, 10),
    (_SINGLE, "srtf"): (8,),
    (_SINGLE, "las"): (8,),
    (_SINGLE, "ftf"): (9,),
    (_SINGLE, "ftf-published"): (9,),
    (_MULTI, "fifo"): (3, 3.5, 4, 4.5),
    (_MULTI, "srtf"): (4,),
    (_MULTI, "las"): (4.5,),
    (_MULTI, "ftf"): (4.5,),
    (_MULTI, "ftf-published"): (4.5,),
}
"""Jobs an hour. A job of the multi-GPU mix has 1.9 GPUs in the mean: 4.5 of them ask for as much as
8.5 jobs of one GPU, 1.13 times what there is."""

_UP_TO_SINGLE = Published(3.4, SEED_SPREAD, f"{PAPER}: average JCT up to 3.4x, single-GPU trace")
_UP_TO_MULTI = Published(1.6, SEED_SPREAD, f"{PAPER}: average JCT up to 1.6x, multi-GPU trace")
_LARGEST = {_SINGLE: _UP_TO_SINGLE, _MULTI: _UP_TO_MULTI}
_FTF_SINGLE = Published(2.3, SEED_SPREAD, f"{PAPER}: FTF, single-GPU, 2.3x")
_FTF_MULTI = Published(2.0, SEED_SPREAD, f"{PAPER}: FTF, multi-GPU, 2x")
_SPEEDUPS = {
    # The paper does not say under which policy; its headline is FIFO's.
    (_SINGLE, "fifo"): _UP_TO_SINGLE,
    (_MULTI, "fifo"): _UP_TO_MULTI,
    (_SINGLE, "ftf"): _FTF_SINGLE,
    (_SINGLE, "ftf-published"): _FTF_SINGLE,
    (_MULTI, "ftf"): _FTF_MULTI,
    (_MULTI, "ftf-published"): _FTF_MULTI,
}
_LAS_TAIL = Published(
    2.0, SEED_SPREAD, f"{PAPER}: LAS, multi-GPU, 95th percentile of the JCT of long jobs 2x"
)
_HEADLINE_SOURCE = f"{PAPER}: FIFO at 9 jobs/h, 81 h to 22 h"
_HEADLINE_H = {PROPORTIONAL: 81.0, TUNE: 22.0, BALANCED: 22.0, WALK: 22.0}
_OPT_H = 20.0
_LARGEST_NOTE = {
    _SINGLE: "the paper names no policy or load, and its own 81 h over 22 h is 3.7",
    _MULTI: (
        "the paper names no policy or load, has 2x for FTF on the same trace, and took the sizes "
        "from Philly's log; here Gavel's mix"
    ),
}
_POLICY_NOTES = {
    "las": (
        "above rho = 1 LAS starves long jobs, some for thousands of hours: served a little now and "
        "then, they escape the guard, which counts hours without any service. Its mean and tail "
        "rest on these few, and on when arrivals end"
    ),
    "ftf": (
        "Themis' rule, the job that suffers most first; the authors' code has the reverse, which "
        "is ftf-published here"
    ),
    "ftf-published": (
        "as the authors' code has it, the job that suffers least first, so that above rho = 1 "
        "nearly all wait for the guard of 1,000 h, with whatever mechanism"
    ),
}
_LAS_NOTE = f"long: more than 4 h when alone; {_POLICY_NOTES['las']}"


class _Arm(NamedTuple):
    mix: str
    policy: str
    jobs_per_hour: float
    mechanism: str

    def __str__(self) -> str:
        return f"{self.mix}, {self.policy}, {self.jobs_per_hour:g} jobs/h, {self.mechanism}"


def _mechanisms(policy: str) -> Sequence[str]:
    """The authors' order is only of interest with their walk."""
    return (PROPORTIONAL, WALK) if policy == "ftf-published" else _MECHANISMS


def _simulations(data: Path, seeds: range) -> list[Simulation[_Arm]]:
    """By seed; the paper's own trace first, where it is."""
    simulations = []
    trace = found(data, ORACLE / "trace_9jph.csv")
    if trace is not None:
        for mechanism in _MECHANISMS:
            arm = _Arm(_PAPERS_TRACE, "fifo", 9, mechanism)
            document = scenario("fifo", mechanism, replayed(str(trace)))
            simulations.append(Simulation(arm, _PAPERS_SEED, document))
    for seed in seeds:
        for (mix, policy), loads in _LOADS.items():
            for load in loads:
                jobs = generated(policy, load, gpus=_MIXES[mix], split=HEADLINE_SPLIT)
                for mechanism in _mechanisms(policy):
                    arm = _Arm(mix, policy, load, mechanism)
                    simulations.append(Simulation(arm, seed, scenario(policy, mechanism, jobs)))
    return simulations


def _papers_trace(runs: Runs[_Arm], there: bool) -> Iterator[ReproducedFigure]:
    """The headline on the one seed that it was published for."""
    for mechanism in _MECHANISMS:
        name = f"{_PAPERS_TRACE}, fifo, 9 jobs/h: mean JCT, {mechanism}"
        published = Published(_HEADLINE_H[mechanism], SAME_SEED, _HEADLINE_SOURCE)
        interval = mean_of(runs, _Arm(_PAPERS_TRACE, "fifo", 9, mechanism), mean_h)
        if not there:
            why = f"not made: needs {ORACLE / 'trace_9jph.csv'} in the directory of --data"
            yield not_made(name, "h", published, why)
        elif interval is not None:
            note = joined(TUNE_NOTES.get(mechanism, ""), SAME_SEED_NOTE)
            yield figure(name, "h", interval, published, note)


def _headline(runs: Runs[_Arm]) -> Iterator[ReproducedFigure]:
    """The same over our seeds."""
    arm = _Arm(_SINGLE, "fifo", 9, PROPORTIONAL)
    loads = sorted(run.load for (run,) in runs.of(arm))
    ours = f"ours ask for {loads[0]:.2f} to {loads[-1]:.2f} times" if loads else ""
    for mechanism in _MECHANISMS:
        interval = mean_of(runs, arm._replace(mechanism=mechanism), mean_h)
        if interval is not None:
            published = Published(_HEADLINE_H[mechanism], SEED_SPREAD, _HEADLINE_SOURCE)
            yield figure(
                f"{_SINGLE}, fifo, 9 jobs/h: mean JCT, {mechanism}",
                "h",
                interval,
                published,
                joined(ONE_SEED_NOTE, ours, TUNE_NOTES.get(mechanism, "")),
            )


def _long_p95_h(run: Simulated) -> float:
    return float(np.percentile(run.jct_h[~run.is_short(_SHORT_H)], 95))


def _speedup(
    runs: Runs[_Arm], mix: str, policy: str, load: float, mechanism: str, statistic: Statistic
) -> Interval | None:
    """How many times smaller ``statistic`` is than with the proportional share."""
    slow = _Arm(mix, policy, load, PROPORTIONAL)
    return ratio_of(runs, slow, slow._replace(mechanism=mechanism), statistic)


def _largest_by_policy(
    runs: Runs[_Arm], mix: str, mechanism: str
) -> dict[str, tuple[Interval, float]]:
    """Policy -> (its largest speed-up of the mean, at so many jobs an hour)."""
    largest = {}
    for policy in _POLICIES:
        speedups = [
            (interval, load)
            for load in _LOADS[mix, policy]
            if (interval := _speedup(runs, mix, policy, load, mechanism, mean_h)) is not None
        ]
        if speedups:
            largest[policy] = max(speedups, key=lambda found: found[0].value)
    return largest


def _speedups(runs: Runs[_Arm], mix: str, mechanism: str) -> Iterator[ReproducedFigure]:
    by_policy = _largest_by_policy(runs, mix, mechanism)
    if not by_policy:
        return
    top = max(by_policy, key=lambda policy: by_policy[policy][0].value)
    interval, load = by_policy[top]
    yield figure(
        f"{mix}: largest speed-up of the mean JCT, {mechanism}",
        "x",
        interval,
        _LARGEST[mix],
        joined(f"{top} at {load:g} jobs/h", _LARGEST_NOTE[mix], _POLICY_NOTES.get(top, "")),
    )
    for policy, (interval, load) in by_policy.items():
        arms = [_Arm(mix, policy, load, each) for each in (PROPORTIONAL, mechanism)]
        yield figure(
            f"{mix}, {policy}: largest speed-up of the mean JCT, {mechanism}",
            "x",
            interval,
            _SPEEDUPS.get((mix, policy), NOTHING_PUBLISHED),
            joined(
                f"at {load:g} jobs/h",
                _LARGEST_NOTE[mix] if policy == "fifo" else _POLICY_NOTES.get(policy, ""),
                ran_dry_note(runs, *arms),
            ),
        )


def _las_tail(runs: Runs[_Arm]) -> Iterator[ReproducedFigure]:
    for load, mechanism in itertools.product(_LOADS[_MULTI, "las"], TUNES):
        interval = _speedup(runs, _MULTI, "las", load, mechanism, _long_p95_h)
        if interval is not None:
            yield figure(
                f"{_MULTI}, las, {load:g} jobs/h: p95 of long jobs, {mechanism}",
                "x",
                interval,
                _LAS_TAIL,
                _LAS_NOTE,
            )


def _mean_drawing(runs: Runs[_Arm], mix: str) -> Drawing:
    curves = [
        curve(
            mechanism,
            [
                (load, mean_of(runs, _Arm(mix, "fifo", load, mechanism), mean_h))
                for load in _LOADS[mix, "fifo"]
            ],
        )
        for mechanism in _MECHANISMS
    ]
    published = [
        Curve("published: proportional", (9.0,), (_HEADLINE_H[PROPORTIONAL],), published=True),
        Curve("published: TUNE", (9.0,), (_HEADLINE_H[TUNE],), published=True),
        Curve("published: OPT", (9.0,), (_OPT_H,), published=True),
    ]
    return Drawing(
        f"synergy-load-{_MIXES[mix]}",
        f"{mix} jobs on 128 GPUs, first come, first served",
        "jobs per hour",
        "mean job completion time in h",
        tuple(each for each in curves if each) + tuple(published if mix == _SINGLE else ()),
        "What CPUs and memory by need gain grows with the load; beyond rho = 1 (7.6 jobs/h of one "
        "GPU, 4 of the mix) queues grow without end, and seeds differ.",
    )


def _policies_drawing(runs: Runs[_Arm], mix: str) -> Drawing:
    published = [
        (number, _SPEEDUPS[mix, policy].value)
        for number, policy in enumerate(_POLICIES)
        if (mix, policy) in _SPEEDUPS
    ]
    curves = []
    for mechanism in TUNES:
        largest = _largest_by_policy(runs, mix, mechanism)
        curves.append(
            curve(
                mechanism,
                [
                    (number, largest[policy][0] if policy in largest else None)
                    for number, policy in enumerate(_POLICIES)
                ],
            )
        )
    marked = Curve(
        "published",
        tuple(float(number) for number, _ in published),
        tuple(float(value or 0.0) for _, value in published),
        published=True,
    )
    return Drawing(
        f"synergy-load-{_MIXES[mix]}-policies",
        f"{mix} jobs: largest speed-up of the mean completion time over the loads",
        "policy",
        "proportional mean over TUNE's mean",
        (*(each for each in curves if each), marked),
        "FIFO makes all jobs wait, and all gain; the mean of LAS rests on the few that it starves.",
        x_names=_POLICIES,
    )


def _run(data: Path, seeds: int | None, say: Say) -> Reproduction:
    simulations = _simulations(data, seeds_of(seeds, _SEEDS))
    runs = simulate_all(simulations, say)
    has_trace = any(simulation.arm.mix == _PAPERS_TRACE for simulation in simulations)
    figures = [*_papers_trace(runs, has_trace), *_headline(runs)]
    for mix in _MIXES:
        for mechanism in TUNES:
            figures += _speedups(runs, mix, mechanism)
    figures += _las_tail(runs)
    drawings = [make(runs, mix) for mix in _MIXES for make in (_mean_drawing, _policies_drawing)]
    return Reproduction(tuple(figures), tuple(drawings), runs.inputs, runs.interrupted)


RECIPE = Recipe(
    id="synergy-load",
    title="Synergy on 128 GPUs over loads and policies",
    source=f"{PAPER}, load sweeps",
    seconds=230,
    needs_data=False,
    run=_run,
)
