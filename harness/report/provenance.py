"""Versions, machine and identity of a result, and the scenario as it was read. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from harness.report.documents import Provenance
from harness.report.html import Html, table, tag
from harness.report.words import NOTHING, numbers_listed


def provenance_table(documents: dict[str, Provenance], seeds: Sequence[int] = ()) -> Html:
    """What is known of a run's parts, by their names. seeds: where a run has several."""
    facts = {name: _facts(document, seeds) for name, document in documents.items()}
    keys = next(iter(facts.values()))
    rows = [[key, _agreed({name: found[key] for name, found in facts.items()})] for key in keys]
    return table("Provenance", ["What", "Value"], rows, "--")


def scenario_fold(text: str) -> Html:
    """The scenario behind a fold."""
    return tag(
        "details",
        tag("summary", "The scenario as it was read"),
        tag("pre", text, tabindex="0", aria_label="Scenario file"),
    )


def _agreed(values: dict[str, str]) -> str:
    """One value where all parts say the same, else each part's own."""
    if len(set(values.values())) == 1:
        return next(iter(values.values()))
    return "; ".join(f"{value} ({name})" for name, value in values.items() if value != NOTHING)


def _facts(document: Provenance, seeds: Sequence[int]) -> dict[str, str]:
    machine = document.machine
    versions = [f"{name} {version}" for name, version in document.versions.items() if version]
    memory = f", {machine.memory_bytes / 2**30:.1f} GiB" if machine.memory_bytes else ""
    return {
        "Run id": document.run_id or NOTHING,
        "Finished (UTC)": document.finished_utc.replace("T", " ").removesuffix("+00:00"),
        "Seeds" if len(seeds) > 1 else "Seed": numbers_listed(seeds or [document.seed]),
        "Machine": f"{machine.cpu or machine.architecture}, {machine.cores} cores{memory}",
        "Kernel": machine.kernel or NOTHING,
        "Software": ", ".join(versions),
        "Scenario hash": f"sha256:{document.scenario_sha256}",
    }
