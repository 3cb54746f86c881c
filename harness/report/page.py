"""The page: one file with all it needs inside, for one run or several."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from harness.report import origin, tables
from harness.report.data import RunData, read_run
from harness.report.figures.cdf import all_arms, one_arm
from harness.report.figures.circles import CircleGroup, circle_groups
from harness.report.figures.figure import Figure
from harness.report.figures.load import ports_by_load
from harness.report.figures.markup import figure_html
from harness.report.figures.utilisation import utilisation
from harness.report.html import Html, join, tag
from harness.report.sentences import outcome
from harness.report.words import counted, listed, port_name, sentence
from traces.errors import BadInputError
from traces.run_directory import give_to_caller


def write_report(directories: Sequence[Path], file: Path) -> None:
    """Write the page of ``directories`` to ``file``. BadInputError where either is no good."""
    text = build_report(directories)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"cannot be written: {error.strerror}", allowed="a writable file", file=file
        ) from None
    give_to_caller(file)


def build_report(directories: Sequence[Path]) -> str:
    """The page of one run directory or several, one after the other, as HTML."""
    runs = [read_run(directory) for directory in directories]
    if not runs:
        raise BadInputError("there is no run to report", allowed="at least one run directory")
    return document(runs)


def document(runs: Sequence[RunData]) -> str:
    """The whole document of ``runs``."""
    scripts = [
        _package_text("plotly", "package_data", "plotly.min.js"),
        _package_text("harness.report", "report.js"),
    ]
    title = f"{listed([run.summary.scenario for run in runs])} · Roundelay report"
    body = [_run(run, f"run{number}") for number, run in enumerate(runs, start=1)]
    page = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=_policy(scripts)),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("title", title),
            tag("link", rel="icon", href="data:,"),
            tag("style", Html(_package_text("harness.report", "style.css"))),
        ),
        tag(
            "body",
            tag("a", "Skip to the results", href="#run1", class_="skip"),
            _masthead(runs),
            tag("main", *body),
            tag("noscript", "The figures need JavaScript; tables and CSV files do without."),
            *(tag("script", Html(script)) for script in scripts),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"


def _package_text(package: str, *parts: str) -> str:
    return resources.files(package).joinpath(*parts).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """Lets the browser run exactly ``scripts`` and fetch nothing."""
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _masthead(runs: Sequence[RunData]) -> Html:
    links = [
        tag("a", run.summary.scenario, href=f"#run{number}")
        for number, run in enumerate(runs, start=1)
    ]
    contents = tag("nav", *links, aria_label="Runs") if len(runs) > 1 else Html()
    return tag("header", tag("p", "Roundelay", class_="brand"), contents, class_="masthead")


def _run(run: RunData, identity: str) -> Html:
    sections = [
        ("Arms", _arms(run)),
        ("Circles", _circles(run, identity)),
        ("Iteration times", _iteration_times(run, identity)),
        ("Links", _links(run, identity)),
        ("Verdict", tables.verdicts(run)),
        ("Scale", origin.scale(run)),
        ("Provenance", origin.provenance(run)),
    ]
    anchors = [(f"{identity}_{title.lower().replace(' ', '-')}", title) for title, _ in sections]
    return tag(
        "article",
        _overview(run),
        tag(
            "nav",
            *(tag("a", title, href=f"#{anchor}") for anchor, title in anchors),
            class_="contents",
            aria_label=f"Sections of {run.summary.scenario}",
        ),
        *(
            tag("section", tag("h2", title, id=anchor), content, aria_labelledby=anchor)
            for (anchor, title), (_, content) in zip(anchors, sections, strict=True)
        ),
        id=identity,
    )


def _overview(run: RunData) -> Html:
    summary = run.summary
    facts = [
        counted(len(summary.arms), "arm", "arms"),
        counted(len(summary.jobs), "job", "jobs"),
        f"seed {summary.seed}",
        " and ".join(name for name, _ in run.sides),
    ]
    return tag(
        "div",
        tag("h1", summary.scenario),
        tag("p", summary.description, class_="lead") if summary.description else "",
        tag("ul", *(tag("li", fact) for fact in facts), class_="facts"),
        tag("p", outcome(summary), class_="outcome"),
        origin.jobs_list(run),
        class_="overview",
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
            class_="remark",
        ),
        tag("details", tag("summary", "Each job by itself"), jobs) if jobs else "",
    )


def _circles(run: RunData, identity: str) -> Html:
    groups = circle_groups(run.circles, run.job_names)
    reasons = [
        tag("p", sentence(f"no circle in arm {arm.name}: {reason}"), class_="warning")
        for arm in run.summary.arms
        for reason in arm.incomparable
    ]
    if reasons and not groups:
        return join(*reasons)
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
        _figures([group.before, group.after], identity, "h4"),
    )


def _iteration_times(run: RunData, identity: str) -> Html:
    together = all_arms(run)
    if together is None:
        return tag("p", "No arm has iterations after the warm-up.")
    own = [figure for arm in run.shown_arms if (figure := one_arm(run, arm))]
    return join(
        figure_html(together, f"{identity}_{together.name}", "h3"),
        tag("h3", "Arm by arm, each on a time axis of its own"),
        _figures(own, identity, "h4"),
    )


def _links(run: RunData, identity: str) -> Html:
    ports = ports_by_load(run)
    own = [figure for arm in run.summary.arms if (figure := utilisation(run, arm, ports))]
    if not own:
        return tag("p", "No link was sampled.")
    return join(
        tag(
            "p",
            "The load of the busiest contended link by job. Above: the first iterations after the "
            "warm-up. Below: the whole run, with that part in grey.",
            class_="remark",
        ),
        _figures(own, identity, "h3"),
    )


def _figures(figures: Sequence[Figure], identity: str, level: str) -> Html:
    """Figures beside each other where the page is wide enough."""
    parts = [figure_html(figure, f"{identity}_{figure.name}", level) for figure in figures]
    return tag("div", *parts, class_="pair")
