"""Where a run comes from: its jobs' numbers, its scale, versions, machine and scenario. Pure."""

from __future__ import annotations

from harness.report.data import RunData
from harness.report.documents import Provenance
from harness.report.html import Html, join, table, tag
from harness.report.sentences import PROVENANCE, scale_words
from harness.report.words import NOTHING, sentence


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
            parts += [tag("p", "! ", sentence(text), class_="warning") for text in one.warnings]
    return join(*parts)


def provenance(run: RunData) -> Html:
    """Versions, machine and identity of each side, and the scenario as it was read."""
    facts = {name: _facts(side.provenance) for name, side in run.sides}
    keys = next(iter(facts.values()))
    rows = [[key, _agreed({name: found[key] for name, found in facts.items()})] for key in keys]
    scenario = run.sides[0][1].scenario_text
    return join(
        table("Provenance", ["What", "Value"], rows, "--"),
        tag(
            "details",
            tag("summary", "The scenario as it was read"),
            tag("pre", scenario, tabindex="0", aria_label="Scenario file"),
        ),
    )


def _agreed(values: dict[str, str]) -> str:
    """One value where all sides say the same, else each side's own."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return "; ".join(f"{value} ({name})" for name, value in values.items() if value != NOTHING)


def _facts(document: Provenance) -> dict[str, str]:
    machine = document.machine
    versions = [f"{name} {version}" for name, version in document.versions.items() if version]
    memory = f", {machine.memory_bytes / 2**30:.1f} GiB" if machine.memory_bytes else ""
    return {
        "Run id": document.run_id or NOTHING,
        "Finished (UTC)": document.finished_utc.replace("T", " ").removesuffix("+00:00"),
        "Seed": str(document.seed),
        "Machine": f"{machine.cpu or machine.architecture}, {machine.cores} cores{memory}",
        "Kernel": machine.kernel or NOTHING,
        "Software": ", ".join(versions),
        "Scenario hash": f"sha256:{document.scenario_sha256}",
    }
