"""A prediction against a reference: everything that validate says. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness.fidelity.bootstrap import SEED, resamples_of
from harness.fidelity.decision import Decision, decide
from harness.fidelity.estimates import (
    MARGIN,
    Estimates,
    Makespan,
    Statement,
    Times,
    estimate,
    makespan,
)
from harness.fidelity.inputs.results import Results
from harness.fidelity.noise import NoiseFloor, noise_floor
from harness.fidelity.paired_errors import (
    Distances,
    PairedErrors,
    RankAgreement,
    distances,
    paired_errors,
    rank_agreement,
)
from harness.fidelity.pairs import Measure, Paired, Pairs, pair
from harness.fidelity.sources import Sources, sources
from harness.fidelity.units import UnitSuspicion, suspected_units

MOST_NAMED = 100


@dataclass(frozen=True, eq=False)
class ArmFidelity:
    """One measure of one arm."""

    pairs: Pairs
    estimates: Estimates
    errors: PairedErrors
    distances: Distances
    ranks: RankAgreement | None
    makespan: Makespan | None
    noise: NoiseFloor | None
    sources: Sources
    statement: Statement

    @property
    def arm(self) -> str:
        return self.pairs.arm

    @property
    def measure(self) -> Measure:
        return self.pairs.measure

    @property
    def one_sided(self) -> int:
        """Jobs that only one side has."""
        return sum(len(side.names) for side in self.pairs.one_sided)


@dataclass(frozen=True, eq=False)
class Fidelity:
    """margin: of the statements, as a share. unpaired: arms that both sides have, but no job of
    them. notes: what was left out when the sides were read. doubts: why a side may be wrong."""

    reference: str
    prediction: str
    margin: float
    arms: tuple[ArmFidelity, ...]
    only_reference: tuple[str, ...]
    only_prediction: tuple[str, ...]
    unpaired: tuple[str, ...]
    decisions: tuple[Decision, ...]
    suspicions: tuple[UnitSuspicion, ...]
    notes: tuple[str, ...]
    doubts: tuple[str, ...]

    @property
    def warnings(self) -> list[str]:
        """What has to be put right before anything is concluded."""
        return [*self.doubts, *(suspicion.words for suspicion in self.suspicions)]

    @property
    def worst(self) -> float:
        """The largest absolute relative difference of a mean."""
        return max(abs(arm.estimates.mean.value - 1) for arm in self.arms)

    def of(self, measure: Measure) -> list[ArmFidelity]:
        """The arms that have this measure."""
        return [arm for arm in self.arms if arm.measure == measure]

    @property
    def measures(self) -> list[Measure]:
        return list(dict.fromkeys(arm.measure for arm in self.arms))


def analyse(reference: Results, prediction: Results, margin: float = MARGIN) -> Fidelity:
    """Compare two sides. Raises BadInputError where there is nothing to compare."""
    paired = pair(reference, prediction)
    named = reference.with_name(paired.arms[0].arm)
    return Fidelity(
        reference.source,
        prediction.source,
        margin,
        tuple(_arm(pairs, named, margin) for pairs in paired.arms),
        paired.only_reference,
        paired.only_prediction,
        paired.unpaired,
        tuple(_decisions(paired)),
        tuple(suspected_units(paired.arms)),
        (
            *(f"REFERENCE: {note}" for note in reference.notes),
            *(f"PREDICTION: {note}" for note in prediction.notes),
        ),
        (*reference.warnings, *prediction.warnings),
    )


def _arm(pairs: Pairs, reference: Results, margin: float) -> ArmFidelity:
    estimates = estimate(pairs)
    return ArmFidelity(
        pairs,
        estimates,
        paired_errors(pairs),
        distances(pairs),
        rank_agreement(pairs),
        makespan(pairs),
        noise_floor(reference, pairs.arm, pairs.measure),
        sources(pairs),
        estimates.statement(margin),
    )


def _decisions(paired: Paired) -> list[Decision]:
    by_measure: dict[Measure, list[Pairs]] = {}
    for arm in paired.arms:
        by_measure.setdefault(arm.measure, []).append(arm)
    found = (decide(arms) for arms in by_measure.values())
    return [decision for decision in found if decision is not None]


def document(fidelity: Fidelity, conclusion: str) -> dict[str, Any]:
    """Everything as plain data. Names of jobs on one side are the first MOST_NAMED; all count."""
    return {
        "reference": fidelity.reference,
        "prediction": fidelity.prediction,
        "conclusion": conclusion,
        "margin": fidelity.margin,
        "arms": [_arm_document(arm) for arm in fidelity.arms],
        "only_in_reference": list(fidelity.only_reference),
        "only_in_prediction": list(fidelity.only_prediction),
        "without_pairs": list(fidelity.unpaired),
        "worst_mean_difference": fidelity.worst,
        "decisions": [_decision_document(decision) for decision in fidelity.decisions],
        "warnings": fidelity.warnings,
        "notes": list(fidelity.notes),
    }


def _arm_document(arm: ArmFidelity) -> dict[str, Any]:
    estimates = arm.estimates
    return {
        "name": arm.arm,
        "measure": arm.measure,
        "statement": arm.statement,
        "reference": {arm.measure: asdict(estimates.reference)},
        "prediction": {arm.measure: asdict(estimates.prediction)},
        "difference": _difference(estimates.reference, estimates.prediction),
        "mean_ratio": asdict(estimates.mean),
        "p99_ratio": asdict(estimates.tail),
        "units": estimates.units,
        "resamples": resamples_of(len(arm.pairs.table)),
        "resampling_seed": SEED,
        "errors": asdict(arm.errors),
        "distances": asdict(arm.distances),
        "rank_agreement": None if arm.ranks is None else asdict(arm.ranks),
        "makespan": None if arm.makespan is None else asdict(arm.makespan),
        "noise_floor": None
        if arm.noise is None
        else asdict(arm.noise) | {"largest": arm.noise.largest, "typical": arm.noise.typical},
        "sources": asdict(arm.sources)
        | {"parts": [asdict(part) | {"error_s": part.error_s} for part in arm.sources.parts]},
        "one_sided": [
            {
                "only_in": side.side,
                "count": len(side.names),
                "of": side.of,
                "not_ended_on_the_other": side.unended,
                "names": list(side.names[:MOST_NAMED]),
            }
            for side in arm.pairs.one_sided
        ],
    }


def _difference(reference: Times, prediction: Times) -> dict[str, float]:
    ours, theirs = asdict(reference), asdict(prediction)
    return {name: theirs[name] / ours[name] - 1 for name in ours}


def _decision_document(decision: Decision) -> dict[str, Any]:
    return asdict(decision) | {
        "same_best": decision.same_best,
        "speedups": _speedup_documents(decision.speedups),
    }


def _speedup_documents(speedups: Sequence[Any]) -> list[dict[str, Any]]:
    return [asdict(each) | {"certain": each.is_certain, "kept": each.is_kept} for each in speedups]
