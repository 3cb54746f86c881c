"""What the report reads of the directory of a run of iterations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from harness.report.documents import Provenance, read_document, read_scenario_text
from harness.report.iterations.documents import ArmRead, Circle, Summary
from traces.run_directory import read_table


@dataclass(frozen=True)
class Side:
    """One half of a run, the measurement or the prediction: tables with the columns of
    traces.results, and where they come from."""

    iterations: pd.DataFrame
    links: pd.DataFrame
    jobs: pd.DataFrame
    provenance: Provenance
    scenario_text: str

    def counted_s(self, arm: str) -> pd.Series[float]:
        """Iteration times of ``arm`` after the warm-up, of all its jobs."""
        rows = self.iterations
        return rows.loc[(rows["arm"] == arm) & rows["counted"], "iteration_s"]


@dataclass(frozen=True)
class RunData:
    """One run; a side that was not done is None, and one of the two is there."""

    summary: Summary
    circles: list[Circle]
    measured: Side | None
    predicted: Side | None

    @property
    def sides(self) -> list[tuple[str, Side]]:
        """The sides that are there, by name, the measurement first."""
        found = (("measured", self.measured), ("predicted", self.predicted))
        return [(name, side) for name, side in found if side is not None]

    @property
    def job_names(self) -> list[str]:
        """All jobs in the scenario's order, which decides their colours."""
        return [job.job for job in self.summary.jobs]

    @property
    def scheduled_arms(self) -> list[ArmRead]:
        """The arms whose jobs a scheduler placed, so that they meet now here and now there."""
        return [arm for arm in self.summary.arms if arm.schedule is not None]

    @property
    def shown_arms(self) -> list[ArmRead]:
        """The arms of which at least one side has iteration times."""
        return [arm for arm in self.summary.arms if arm.measured or arm.predicted]


def read_run(directory: Path) -> RunData:
    """Read what ``run``, ``simulate`` or ``emulate`` left. BadInputError where it is damaged."""
    summary = read_document(directory / "summary.json", Summary)
    circles_file = directory / "circles.json"
    circles = read_document(circles_file, list[Circle]) if circles_file.is_file() else []
    emulated, simulated = directory / "emulated", directory / "simulated"
    if emulated.is_dir() or simulated.is_dir():
        measured = _read_side(emulated) if emulated.is_dir() else None
        predicted = _read_side(simulated) if simulated.is_dir() else None
        return RunData(summary, circles, measured, predicted)
    side = _read_side(directory)
    if (directory / "verdict.json").is_file():
        return RunData(summary, circles, side, None)
    return RunData(summary, circles, None, side)


def _read_side(directory: Path) -> Side:
    return Side(
        iterations=read_table(directory, "iterations"),
        links=read_table(directory, "links"),
        jobs=read_table(directory, "jobs"),
        provenance=read_document(directory / "provenance.json", Provenance),
        scenario_text=read_scenario_text(directory),
    )
