"""A run of iterations as an article of the page."""

from __future__ import annotations

from pathlib import Path

from harness.report.article import Article
from harness.report.figures.markup import figure_html, figures_html
from harness.report.html import Html, join, tag
from harness.report.iterations import links, origin, schedule, tables
from harness.report.iterations.data import RunData, read_run
from harness.report.iterations.figures.circles import CircleGroup, circle_groups
from harness.report.iterations.figures.drift import drift
from harness.report.iterations.figures.heat_map import heat_map
from harness.report.iterations.figures.load import ports_by_load, ports_by_meetings
from harness.report.iterations.figures.marks import marks_over_time
from harness.report.iterations.figures.times import all_arms, one_arm
from harness.report.iterations.figures.utilisation import utilisation
from harness.report.iterations.sentences import outcome
from harness.report.words import clipped_words, counted, listed, port_name, sentence

SCHEDULED_SCORE = (
    " Where a scheduler places the jobs it is the mean over the placements that the interleaver "
    "chose."
)
SCHEDULED_LINK = (
    " Where a scheduler places the jobs it is the link on which several send at once for longest."
)


def read_iterations(directory: Path, identity: str) -> Article:
    """The article of the run in ``directory``; see article_of. Raises BadInputError."""
    return article_of(read_run(directory), identity)


def article_of(run: RunData, identity: str) -> Article:
    """identity: the article's id on the page, with which those of its figures begin."""
    summary = run.summary
    return Article(
        title=summary.scenario,
        description=summary.description,
        facts=[
            counted(len(summary.arms), "arm", "arms"),
            counted(len(summary.jobs), "job", "jobs"),
            f"seed {summary.seed}",
            " and ".join(name for name, _ in run.sides),
        ],
        outcome=outcome(summary),
        overview=origin.overview(run),
        sections=[
            ("Arms", _arms(run)),
            *_schedule(run),
            ("Circles", _circles(run, identity)),
            ("Iteration times", _iteration_times(run, identity)),
            ("Links", _links(run, identity)),
            ("Verdict", tables.verdicts(run)),
            ("Scale", origin.scale(run)),
            ("Provenance", origin.provenance(run)),
        ],
    )


def _arms(run: RunData) -> Html:
    jobs = tables.jobs_table(run)
    return join(
        tables.arms_table(run),
        tag(
            "p",
            "Times are those of all counted iterations of all jobs. The difference is that of the "
            "prediction from the measurement. The score says how well the jobs, as they were "
            "started, fit on the links they share: 1 where no demand exceeds a link.",
            SCHEDULED_SCORE if run.scheduled_arms else "",
            class_="remark",
        ),
        tag("details", tag("summary", "Each job by itself"), jobs) if jobs else "",
    )


def _schedule(run: RunData) -> list[tuple[str, Html]]:
    return [("Schedule", schedule.schedule(run.scheduled_arms))] if run.scheduled_arms else []


def _circles(run: RunData, identity: str) -> Html:
    groups = circle_groups(run.circles, run.job_names)
    reasons = [
        tag("p", sentence(f"no circle in arm {arm.name}: {reason}"), class_="warning")
        for arm in run.summary.arms
        for reason in arm.incomparable
    ]
    reasons += [
        tag("p", sentence(clipped_words(arm.name, job, share)), class_="warning")
        for arm in run.summary.arms
        for job, share in arm.clipped.items()
    ]
    if reasons and not groups:
        return join(*reasons)
    if not groups and len(run.scheduled_arms) == len(run.summary.arms):
        return tag(
            "p",
            "A scheduler places the jobs anew as they come and go, so that no circle holds for a "
            "whole run.",
        )
    if not groups:
        return tag("p", "No link carries more than one job, so there is nothing to rotate.")
    return join(
        tag(
            "p",
            "Time runs once around the circle, after which all jobs are where they began. Each "
            "job's demand stands on the one before; what reaches over the dashed circle does not "
            "fit on the link.",
            class_="remark",
        ),
        *(_group(group, identity) for group in groups),
        *reasons,
    )


def _group(group: CircleGroup, identity: str) -> Html:
    circle = group.circle
    ports = counted(len(circle.ports), "port", "ports")
    links = listed([port_name(port) for port in circle.ports], at_most=4)
    arms = f"{'arm' if len(group.arms) == 1 else 'arms'} {listed(group.arms)}"
    return join(
        tag("h3", f"{listed(circle.jobs)} on {links}"),
        tag("p", f"These jobs meet on {ports} in {arms}.", class_="remark"),
        figures_html([group.before, group.after], identity, "h4"),
    )


def _iteration_times(run: RunData, identity: str) -> Html:
    together = all_arms(run)
    if together is None:
        return tag("p", "No arm has iterations after the warm-up.")
    own = [figure for arm in run.shown_arms if (figure := one_arm(run, arm))]
    drifts = [figure for arm in run.shown_arms if (figure := drift(run, arm))]
    return join(
        figure_html(together, f"{identity}_{together.name}", "h3"),
        tag("h3", "Arm by arm, each on a time axis of its own"),
        figures_html(own, identity, "h4"),
        tag("h3", "Jobs on the grids of their time-shifts") if drifts else "",
        *(figure_html(each, f"{identity}_{each.name}", "h4") for each in drifts),
    )


def _links(run: RunData, identity: str) -> Html:
    ports = ports_by_load(run)
    own = [
        figure
        for arm in run.summary.arms
        if (figure := utilisation(run, arm, ports_by_meetings(run, arm) if arm.schedule else ports))
    ]
    if not own:
        return tag("p", "No link was sampled.")
    maps = [figure for arm in run.summary.arms if (figure := heat_map(run, arm))]
    marked = [figure for arm in run.summary.arms if (figure := marks_over_time(run, arm))]
    return join(
        tag(
            "p",
            "The load of the busiest contended link by job. Above: the first iterations after the "
            "warm-up. Below: the whole run, with that part in grey.",
            SCHEDULED_LINK if run.scheduled_arms else "",
            class_="remark",
        ),
        figures_html(own, identity, "h3"),
        tag("h3", "All links") if maps else "",
        *(figure_html(each, f"{identity}_{each.name}", "h4") for each in maps),
        links.events_table(run),
        links.marks(run),
        *(figure_html(each, f"{identity}_{each.name}", "h4") for each in marked),
    )
