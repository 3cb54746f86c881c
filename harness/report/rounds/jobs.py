"""What became of the jobs: read, left out and why, run and counted, and by which rules. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.report.html import Html, join, table, tag
from harness.report.rounds.documents import ArmRead, SeedRead, Summary
from harness.report.rounds.sides import Sides
from harness.report.words import counted, listed, number, numbers_listed, sentence, span


@dataclass(frozen=True)
class _Run:
    """One arm with one seed."""

    arm: ArmRead
    seed: SeedRead


def jobs_section(summary: Summary, sides: Sides) -> Html:
    """The section about jobs. Nothing that was left out, or put in order, goes without a word."""
    runs = _runs(summary)
    if not runs:
        return tag("p", f"Nothing was {sides.shown}, so no job was read.")
    left_out, rules, sources = left_out_words(summary), _rules(summary), _sources(summary)
    return join(
        _table(runs),
        tag(
            "p",
            "A run ends when the last job that counts has ended. Jobs before them fill the "
            "cluster; jobs after them keep it as busy as it was.",
            class_="remark",
        ),
        tag("h3", "Left out"),
        *(tag("p", words, class_="warning") for words in left_out),
        "" if left_out else tag("p", "Every job that was read took part."),
        tag("h3", "Rules applied to the jobs"),
        _list(rules) if rules else tag("p", "None: the jobs run as they were read."),
        tag("h3", "Where they come from"),
        _list(sources),
    )


def left_out_words(summary: Summary) -> list[str]:
    """A sentence for each reason for which runs left jobs out."""
    runs = _runs(summary)
    found = []
    for reason, members in _said(runs, lambda run: [r.reason for r in run.jobs.refused]).items():
        refusals = [r for run in members for r in run.seed.jobs.refused if r.reason == reason]
        jobs = _jobs_were([refusal.count for refusal in refusals])
        lines = listed(list(dict.fromkeys(refusal.where for refusal in refusals)))
        found.append(sentence(f"{jobs} left out{_where(members, runs)}: {reason} ({lines})"))
    by_rules = [run for run in runs if _left_out_by_rules(run)]
    if by_rules:
        jobs = _jobs_were([_left_out_by_rules(run) for run in by_rules])
        where = _where(by_rules, runs)
        found.append(f"{jobs} left out{where} by the rules that the section about jobs lists.")
    return found


def _jobs_were(counts: Sequence[int]) -> str:
    if len(set(counts)) == 1:
        return counted(counts[0], "job was", "jobs were")
    return f"{span(counts, number)} jobs were"


def _left_out_by_rules(run: _Run) -> int:
    """Jobs that were read and neither ran nor were refused."""
    jobs = run.seed.jobs
    return jobs.read - jobs.ran - sum(refusal.count for refusal in jobs.refused)


def _rules(summary: Summary) -> list[str]:
    runs = _runs(summary)

    def rules_of(run: SeedRead) -> list[str]:
        moved = run.jobs.reordered
        order = f"{counted(moved, 'job', 'jobs')} stood before one that was submitted earlier; all "
        return [*run.jobs.notes, *([f"{order}were put in order of submission"] if moved else [])]

    rules = _said(runs, rules_of)
    return [sentence(f"{rule}{_where(members, runs)}") for rule, members in rules.items()]


def _sources(summary: Summary) -> list[str]:
    runs = _runs(summary)
    sources = _said(runs, _source)
    return [sentence(f"{source}{_where(members, runs)}") for source, members in sources.items()]


def _source(run: SeedRead) -> list[str]:
    """What a generator made with the run's own seed is made by the same rule with every seed."""
    rule = run.source.removesuffix(f", seed {run.seed}")
    return [run.source if rule == run.source else f"{rule}, made anew with each seed"]


def _runs(summary: Summary) -> list[_Run]:
    return [_Run(arm, seed) for arm in summary.arms for seed in arm.runs]


def _said(runs: Sequence[_Run], say: Callable[[SeedRead], Sequence[str]]) -> dict[str, list[_Run]]:
    """The runs of which each of the texts that ``say`` gives is true."""
    found: dict[str, list[_Run]] = {}
    for run in runs:
        for text in dict.fromkeys(say(run.seed)):
            found.setdefault(text, []).append(run)
    return found


def _where(members: Sequence[_Run], runs: Sequence[_Run]) -> str:
    """In which arms, and with which seeds if not all; empty where it is everywhere."""
    if len(members) == len(runs):
        return ""
    arms = list(dict.fromkeys(run.arm.name for run in members))
    words = f" in {'arm' if len(arms) == 1 else 'arms'} {listed(arms)}"
    if len(members) == sum(run.arm.name in arms for run in runs):
        return words
    seeds = sorted({run.seed.seed for run in members})
    return f"{words} with {'seed' if len(seeds) == 1 else 'seeds'} {numbers_listed(seeds)}"


def _table(runs: Sequence[_Run]) -> Html:
    """One row for all runs in which as many jobs were read, left out, run and counted."""
    alike: dict[tuple[str, ...], list[_Run]] = {}
    for run in runs:
        jobs = run.seed.jobs
        ended = jobs.counted_and_finished
        row = (
            number(jobs.read),
            number(jobs.read - jobs.ran),
            number(jobs.ran),
            f"{number(jobs.counted)}, {'all' if ended == jobs.counted else number(ended)} ended",
        )
        alike.setdefault(row, []).append(run)
    rows = [
        [_where(members, runs).removeprefix(" in ") or "all", *row]
        for row, members in alike.items()
    ]
    header = ["Runs", "Read", "Left out", "Take part", "Count"]
    return table("Jobs of the workload", header, rows, "wnnnn")


def _list(items: Sequence[str]) -> Html:
    return tag("ul", *(tag("li", item) for item in items), class_="plain")
