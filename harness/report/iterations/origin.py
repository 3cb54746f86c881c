"""Where a run of iterations comes from: its jobs' numbers, its scale, its provenance. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.html import Html, join, table, tag
from harness.report.iterations.data import RunData
from harness.report.iterations.sentences import PROVENANCE, scale_words
from harness.report.provenance import provenance_table, scenario_fold
from harness.report.words import sentence


def overview(run: RunData) -> Html:
    """What of the scenario is probably a mistake, and its jobs."""
    return join(_warnings(run.summary.warnings), jobs_list(run))


def jobs_list(run: RunData) -> Html:
    """The jobs of the scenario, those of one model and source together."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for job in run.summary.jobs:
        alike.setdefault((job.model, job.provenance, job.source), []).append(job.job)
    rows = [
        [
            join(*(tag("span", name, class_="name") for name in names)),
            model,
            join(PROVENANCE.get(provenance, provenance), ": ", source),
        ]
        for (model, provenance, source), names in alike.items()
    ]
    return table("Jobs", ["Jobs", "Model", "Where its numbers come from"], rows, "--w")


def scale(run: RunData) -> Html:
    """How the cluster was made small enough; one paragraph for arms that were scaled alike."""
    scales = [arm.scale for arm in run.summary.arms if arm.scale]
    if not scales:
        return tag(
            "p", "Nothing was emulated, so nothing was scaled: all sizes are the cluster's own."
        )
    parts = []
    for index, one in enumerate(scales):
        if one not in scales[:index]:
            parts.append(tag("p", scale_words(one)))
            parts.append(_warnings(one.warnings))
    return join(*parts)


def _warnings(texts: Sequence[str]) -> Html:
    return join(*(tag("p", "! ", sentence(text), class_="warning") for text in texts))


def provenance(run: RunData) -> Html:
    """Versions, machine and identity of each side, and the scenario as it was read."""
    return join(
        provenance_table({name: side.provenance for name, side in run.sides}),
        scenario_fold(run.sides[0][1].scenario_text),
    )
