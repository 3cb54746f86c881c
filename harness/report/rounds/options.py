"""What was done: the schedulers in words, the cluster, the jobs, and every option. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from harness.report.html import Html, join, table, tag
from harness.report.rounds.documents import ArmRead, MeasureRead, Summary, WorkloadRead
from harness.report.rounds.names import (
    CHOICES,
    COSTS,
    MECHANISMS,
    OPTIONS,
    PLACEMENTS,
    POLICIES,
    meaning,
)
from harness.report.rounds.setting import cluster_words
from harness.report.rounds.sides import Sides
from harness.report.words import counted, duration, listed, number, sentence


def schedulers(summary: Summary) -> Html:
    """The names in the table of arms in words, each once."""
    groups = (
        ("Policy: who comes first", POLICIES, [arm.policy for arm in summary.arms]),
        (
            "Mechanism: what a job gets beside its GPUs",
            MECHANISMS,
            [arm.mechanism for arm in summary.arms],
        ),
        ("Placement: where it runs", PLACEMENTS, [arm.placement for arm in summary.arms]),
    )
    return join(
        *(
            join(
                tag("h3", title),
                tag(
                    "dl",
                    *(
                        join(tag("dt", name), tag("dd", sentence(meaning(words, name))))
                        for name in dict.fromkeys(names)
                    ),
                    class_="meaning",
                ),
            )
            for title, words, names in groups
        )
    )


def options_table(summary: Summary, sides: Sides) -> Html:
    """One row an option: what all arms say, or each what it says."""
    rows: list[tuple[str, Callable[[ArmRead], str]]] = [
        ("Cluster", lambda arm: cluster_words(arm.cluster)),
        ("Jobs", lambda arm: _workload(arm.workload)),
        ("Models", lambda arm: _models(arm.workload)),
        ("Jobs that count", lambda arm: _measure(arm.measure)),
        ("Short jobs", lambda arm: f"up to {duration(arm.measure.short)} alone at the fair share"),
        ("Round", lambda arm: duration(arm.round_s)),
        ("Guard against starvation", _priority),
    ]
    for name in dict.fromkeys(name for arm in summary.arms for name in arm.simulation):
        rows.append((meaning(OPTIONS, name), _option(name)))
    return table(
        f"What was {sides.done}",
        ["What", "How"],
        [[title, _agreed(summary.arms, say)] for title, say in rows],
        "-w",
    )


def _agreed(arms: Sequence[ArmRead], say: Callable[[ArmRead], str]) -> Html:
    """What all arms say, or what is said and by whom."""
    said: dict[str, list[str]] = {}
    for arm in arms:
        said.setdefault(say(arm), []).append(arm.name)
    if len(said) == 1:
        return join(*said)
    return join(
        *(
            tag("span", f"{text} ", tag("small", f"({listed(names)})"), class_="one-of")
            for text, names in said.items()
        )
    )


def _workload(workload: WorkloadRead) -> str:
    generate = workload.generate
    if generate is None:
        return f"trace {workload.trace}"
    rate = (
        f"at load {number(generate.load)}"
        if generate.load is not None
        else f"{number(generate.jobs_per_hour or 0.0)} an hour"
    )
    return f"{number(generate.jobs)} generated ones, {rate}, GPU mix {generate.gpus}"


def _models(workload: WorkloadRead) -> str:
    if workload.profiles == "none":
        return "not told apart: all jobs run alike whatever share they get"
    drawn = listed([f"{kind} {number(weight)}" for kind, weight in workload.split.items()])
    from_split = f", drawn by class with the weights {drawn}" if drawn else ""
    return f"profiles {workload.profiles}{from_split}"


def _measure(measure: MeasureRead) -> str:
    if measure.count is None:
        return "all" if measure.first == 0 else f"all after the first {number(measure.first)}"
    after = f" after the first {number(measure.first)}" if measure.first else ""
    return f"{counted(measure.count, 'job', 'jobs')}{after}"


def _priority(arm: ArmRead) -> str:
    if arm.priority_after_s is None:
        return "none"
    return f"a job comes first once it has waited for {duration(arm.priority_after_s)}"


def _option(name: str) -> Callable[[ArmRead], str]:
    def say(arm: ArmRead) -> str:
        value = arm.simulation.get(name, "")
        if isinstance(value, str):
            return CHOICES.get((name, value), value)
        if value == 0:
            return "none"
        cost = f", {COSTS[name]}" if name in COSTS else ""
        return f"{duration(value)}{cost}"

    return say
