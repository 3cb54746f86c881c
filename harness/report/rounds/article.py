"""A run of rounds as an article of the page."""

from __future__ import annotations

from pathlib import Path

from harness.report.article import Article
from harness.report.figures.markup import figure_html, figures_html
from harness.report.html import Html, join, tag
from harness.report.provenance import provenance_table, scenario_fold
from harness.report.rounds import jobs, options, setting, tables
from harness.report.rounds.data import RunData, read_run
from harness.report.rounds.emulation import emulation_section
from harness.report.rounds.figures.completion import completion_times
from harness.report.rounds.figures.gpu_timeline import gpu_timelines
from harness.report.rounds.figures.gpus_in_use import gpus_in_use
from harness.report.rounds.figures.kinds import gpus, models
from harness.report.rounds.figures.lengths import lengths
from harness.report.rounds.figures.means import means
from harness.report.rounds.figures.shares import shares
from harness.report.rounds.sentences import outcome
from harness.report.words import counted, listed, number, sentence, span


def read_rounds(directory: Path, identity: str) -> Article:
    """The article of the run in ``directory``; see article_of. Raises BadInputError."""
    return article_of(read_run(directory), identity)


def article_of(run: RunData, identity: str) -> Article:
    """identity: the article's id on the page, with which those of its figures begin."""
    summary = run.summary
    mechanisms = tables.mechanism_table(summary)
    emulation = emulation_section(run, identity)
    return Article(
        title=summary.scenario,
        description=summary.description,
        facts=_facts(run),
        outcome=outcome(summary, run.sides),
        overview=join(
            tag("p", setting.setting(summary)),
            *(tag("p", words, class_="warning") for words in jobs.left_out_words(summary)),
        ),
        sections=[
            *([("Emulation", emulation)] if emulation else []),
            ("Arms", _arms(run, identity)),
            ("Completion times", _completion_times(run, identity)),
            ("Resources", _resources(run, identity)),
            ("Jobs", jobs.jobs_section(summary, run.sides)),
            (f"What was {run.sides.done}", _what_was_done(run)),
            *([("Mechanisms", mechanisms)] if mechanisms else []),
            ("Provenance", _provenance(run)),
        ],
    )


def _facts(run: RunData) -> list[str]:
    summary = run.summary
    found = [counted(len(summary.arms), "arm", "arms")]
    counts = [seed.jobs.ran for arm in summary.arms for seed in arm.runs]
    if counts:
        found.append(f"{span(counts, number)} jobs")
        found.append(f"{span([arm.num_gpus for arm in summary.arms], number)} GPUs")
    found.append(counted(len(summary.seeds), "seed", "seeds"))
    return [*found, run.sides.done]


def _arms(run: RunData, identity: str) -> Html:
    figure = means(run)
    unlike = setting.not_like_for_like(run.summary)
    seeds = tables.seeds_table(run.summary)
    return join(
        tables.arms_table(run.summary),
        tag("p", sentence(unlike), class_="warning") if unlike else "",
        tag("p", setting.columns(run.summary), class_="remark"),
        tag("details", tag("summary", "Each seed by itself"), seeds) if seeds else "",
        figure_html(figure, f"{identity}_{figure.name}", "h3") if figure else "",
    )


def _completion_times(run: RunData, identity: str) -> Html:
    together = completion_times(run)
    if together is None:
        return tag("p", "No job that counts has ended.")
    found = [figure for make in (lengths, models, gpus) if (figure := make(run))]
    return join(
        figure_html(together, f"{identity}_{together.name}", "h3"),
        tag("h3", "By kind of job") if found else "",
        figures_html(found, identity, "h4"),
    )


def _resources(run: RunData, identity: str) -> Html:
    found = [figure for make in (gpus_in_use, shares) if (figure := make(run))]
    if not found:
        return tag("p", f"Nothing was {run.sides.shown}, so no GPU was in use.")
    own = gpu_timelines(run)
    return join(
        *(figure_html(figure, f"{identity}_{figure.name}", "h3") for figure in found),
        tag("h3", "GPU by GPU") if own else "",
        *(figure_html(each, f"{identity}_{each.name}", "h4") for each in own),
        *(tag("p", words, class_="remark") for words in _without_timeline(run)),
        tag("p", _timelines(run.timelines), class_="remark") if run.timelines else "",
    )


def _without_timeline(run: RunData) -> list[str]:
    arms = [arm for arm in run.leases.occupancy if arm not in run.leases.shown]
    if not arms:
        return []
    return [f"No job was on the first servers with {listed(arms)}, or the cluster has no servers."]


def _timelines(files: list[str]) -> str:
    return (
        f"Perfetto (ui.perfetto.dev) opens {listed(files)} in the directory of the run, where "
        "every GPU of every server has a track that shows which job holds it, and when."
    )


def _what_was_done(run: RunData) -> Html:
    return join(options.schedulers(run.summary), options.options_table(run.summary, run.sides))


def _provenance(run: RunData) -> Html:
    return join(
        provenance_table({run.sides.done: run.provenance}, run.summary.seeds),
        *(
            tag("details", tag("summary", f"Profiles of models ({names})"), tag("p", text))
            for text, names in _profiles(run)
        ),
        scenario_fold(run.scenario_text),
    )


def _profiles(run: RunData) -> list[tuple[str, str]]:
    """What is known of how fast models run, and in which arms."""
    found: dict[str, list[str]] = {}
    for arm, text in run.provenance.profiles.items():
        found.setdefault(text, []).append(arm)
    if len(found) == 1:
        return [(text, "all arms") for text in found]
    return [(text, listed(arms)) for text, arms in found.items()]
