"""A prediction against a reference as an article of the page. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from harness.fidelity.analysis import ArmFidelity, Fidelity
from harness.fidelity.conclusion import MEASURES, conclusion
from harness.fidelity.estimates import LEAST_SEEDS
from harness.fidelity.pairs import Measure
from harness.report.article import Article
from harness.report.fidelity import tables
from harness.report.fidelity.figures.agreement import agreement
from harness.report.fidelity.figures.distributions import distributions
from harness.report.fidelity.figures.noise_floor import noise_floor
from harness.report.fidelity.figures.ratios import ratios
from harness.report.fidelity.figures.speedups import speedups
from harness.report.figures.markup import figure_html, figures_html
from harness.report.html import Html, join, table, tag
from harness.report.traces.tables import Words
from harness.report.words import counted, listed, number, sentence

MOST_DISTRIBUTIONS = 12

_METHODS = (
    "Errors are predicted over reference, less 1. Intervals are bias-corrected and accelerated "
    "bootstraps (BCa) over jobs in pairs, or over blocks of iterations as long as the square root "
    "of their number. They treat jobs as if one did not depend on another; jobs that share a "
    "cluster do to some degree, so that true intervals are somewhat wider.",
    "A mean is equivalent where its 90 % interval lies within the margin (two one-sided tests at "
    "5 %), different where it lies outside, and else undecided.",
    "Limits of agreement are Bland and Altman's, of the logarithm of the ratio. A 99th percentile "
    "is the least time that 99 in 100 do not exceed. A makespan is one number of a whole run: "
    "jobs cannot be drawn anew for it, and its interval is a BCa bootstrap over seeds in pairs. "
    f"With few seeds that is too short: with {LEAST_SEEDS}, the fewest that have one, it holds the "
    "truth in about 86 of 100 simulated cases.",
    "The certainty of an order is the share of resamples in which the reference has it.",
)


def article_of(fidelity: Fidelity, identity: str) -> Article:
    """identity: the article's id on the page."""
    by_measure = {measure: fidelity.of(measure) for measure in fidelity.measures}
    arms = list(dict.fromkeys(arm.arm for arm in fidelity.arms))
    pairs = sum(arm.errors.pairs for arm in fidelity.arms)
    return Article(
        title="Prediction against reference",
        description=tag(
            "span",
            f"{fidelity.prediction} against {fidelity.reference}",
            style="overflow-wrap: anywhere",
        ),
        facts=[
            counted(len(arms), "arm", "arms"),
            counted(pairs, "pair", "pairs"),
            *(MEASURES[measure] for measure in by_measure),
            f"margin {number(100 * fidelity.margin)} %",
        ],
        outcome=conclusion(fidelity),
        overview=join(
            *(tag("p", sentence(words), class_="warning") for words in fidelity.warnings)
        ),
        sections=[
            ("Means", _each(by_measure, lambda own: _means(own, fidelity.margin, identity))),
            ("One by one", _each(by_measure, lambda own: _single(own, identity))),
            ("Distributions", _each(by_measure, lambda own: _distributions(own, identity))),
            ("Decisions", _decisions(fidelity, identity)),
            ("Noise floor", _each(by_measure, lambda own: _noise(own, identity))),
            ("Where the error comes from", _each(by_measure, _sources)),
            ("What was left out", _left_out(fidelity)),
            ("How it is computed", join(*(tag("p", words) for words in _METHODS))),
        ],
    )


def _each(
    by_measure: dict[Measure, list[ArmFidelity]], show: Callable[[list[ArmFidelity]], Html]
) -> Html:
    return join(*(show(arms) for arms in by_measure.values()))


def _table(words: Words) -> Html:
    if not words.rows:
        return Html()
    return table(words.title, words.header, words.rows, words.kinds, words.groups)


def _means(arms: list[ArmFidelity], margin: float, identity: str) -> Html:
    figure = ratios(arms, margin)
    known = tables.makespans(arms)
    remarks = tables.no_intervals(arms)
    if not known.rows and arms[0].measure == "jct_s":
        remarks = [_NO_MAKESPAN]
    return join(
        _table(tables.means(arms, margin)),
        figure_html(figure, f"{identity}_{figure.name}", "h3"),
        join(tag("h3", "Makespan"), _table(known)) if known.rows else "",
        *(tag("p", sentence(words), class_="remark") for words in remarks),
    )


_NO_MAKESPAN = (
    "the makespan is not known, as the tables of both sides would have to say when jobs were "
    "submitted and when they ended (submit_s, finish_s)"
)


def _single(arms: list[ArmFidelity], identity: str) -> Html:
    figure = agreement(arms)
    return join(_table(tables.errors(arms)), figure_html(figure, f"{identity}_{figure.name}", "h3"))


def _distributions(arms: list[ArmFidelity], identity: str) -> Html:
    shown = [distributions(arm) for arm in arms[:MOST_DISTRIBUTIONS]]
    left = len(arms) - len(shown)
    return join(
        _table(tables.distributions(arms)),
        figures_html(shown, identity, "h3"),
        tag("p", f"{counted(left, 'arm is', 'arms are')} not drawn.") if left else "",
    )


def _decisions(fidelity: Fidelity, identity: str) -> Html:
    parts: list[Html] = []
    for decision in fidelity.decisions:
        figure = speedups(decision)
        parts += [
            tag("p", _orders("reference", decision.reference)),
            tag("p", _orders("prediction", decision.prediction)),
            _table(tables.decisions(decision)),
            figure_html(figure, f"{identity}_{figure.name}", "h3"),
        ]
    if not parts:
        return tag("p", "There are no two arms that could be compared over the same jobs.")
    return join(*parts)


def _orders(side: str, arms: tuple[str, ...]) -> str:
    return f"From the best to the worst, by the {side}: {listed(arms, len(arms))}."


def _noise(arms: list[ArmFidelity], identity: str) -> Html:
    figure = noise_floor(arms)
    if figure is None:
        return tag(
            "p",
            "The reference has no repeats with the same jobs, so that its own spread is not known. "
            "Several seeds in its table, or several run directories by a pattern with *, tell it.",
        )
    return join(_table(tables.noise(arms)), figure_html(figure, f"{identity}_{figure.name}", "h3"))


def _sources(arms: list[ArmFidelity]) -> Html:
    words = (tag("li", sentence(each)) for each in tables.source_sentences(arms))
    return join(_table(tables.parts(arms)), tag("ul", *words, class_="plain"))


def _left_out(fidelity: Fidelity) -> Html:
    found = list(_left_out_words(fidelity))
    if not found:
        return tag("p", "Nothing: every job of every arm is on both sides.")
    return tag("ul", *(tag("li", sentence(words)) for words in found), class_="plain")


def _left_out_words(fidelity: Fidelity) -> Iterator[str]:
    yield from tables.one_sided(fidelity)
    for side, arms in (
        ("reference", fidelity.only_reference),
        ("prediction", fidelity.only_prediction),
    ):
        if arms:
            yield f"arms that only the {side} has: {listed(arms, len(arms))}"
    if fidelity.unpaired:
        names = listed(fidelity.unpaired, len(fidelity.unpaired))
        yield f"arms of which no job is on both sides: {names}"
    yield from fidelity.notes
