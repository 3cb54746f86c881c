"""Where a run comes from: its jobs' numbers, its scale, versions, machine and scenario. Pure."""

from __future__ import annotations

from harness.report.data import RunData
from harness.report.documents import Provenance
from harness.report.html import Html, join, table, tag
from harness.report.sentences import PROVENANCE, scale_words
from harness.report.words import NOTHING, listed, sentence


def jobs_list(run: RunData) -> Html:
    """The jobs of the scenario, those of one model and source together."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for job in run.summary.jobs:
        alike.setdefault((job.model, job.provenance, job.source), []).append(job.job)
    rows = [
        [
            listed(names, at_most=12),
            model,
            join(PROVENANCE.get(provenance, provenance), ": ", source),
        ]
        for (model, provenance, source), names in alike.items()
    ]
    return table("Jobs", ["Jobs", "Model", "Where its numbers come from"], rows, set())


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
            parts += [tag("p", "! ", sentence(text), class_="warning") for text in one.warnings]
    return join(*parts)


def provenance(run: RunData) -> Html:
    """Versions, machine and identity of each side, and the scenario as it was read."""
    documents = [side.provenance for _, side in run.sides]
    facts = [_facts(document) for document in documents]
    keys = list(dict.fromkeys(key for one in facts for key in one))
    rows = [[key, *(one.get(key, NOTHING) for one in facts)] for key in keys]
    scenario = run.sides[0][1].scenario_text
    return join(
        table("Provenance", ["", *(name for name, _ in run.sides)], rows, set()),
        tag(
            "details",
            tag("summary", "The scenario as it was read"),
            tag("pre", scenario, tabindex="0", aria_label="Scenario file"),
        ),
    )


def _facts(document: Provenance) -> dict[str, str]:
    machine = document.machine
    facts = {
        "Started (UTC)": document.started_utc,
        "Run id": document.run_id,
        "Seed": str(document.seed),
        "Kernel": machine.kernel,
        "Processor": f"{machine.cpu or machine.architecture}, {machine.cores} cores",
        "Memory": f"{machine.memory_bytes / 2**30:.1f} GiB" if machine.memory_bytes else None,
        "Scenario SHA-256": document.scenario_sha256,
        **document.versions,
    }
    return {key: value or NOTHING for key, value in facts.items()}
