"""A prediction against a reference, for a person."""

from __future__ import annotations

from harness.cli.show import console
from harness.cli.show_words import plain, print_words, say
from harness.fidelity.analysis import Fidelity
from harness.report.fidelity import tables
from harness.report.words import listed


def print_fidelity(fidelity: Fidelity, conclusion: str) -> None:
    """The tables, what only one side has, and the conclusion."""
    for measure in fidelity.measures:
        arms = fidelity.of(measure)
        for words in (
            tables.means(arms, fidelity.margin),
            tables.makespans(arms),
            tables.errors(arms),
            tables.parts(arms),
        ):
            if words.rows:
                print_words(words)
        for remark in tables.no_intervals(arms):
            say(f"note: {remark}")
    for decision in fidelity.decisions:
        print_words(tables.decisions(decision))
    for side, names in (
        ("REFERENCE", fidelity.only_reference),
        ("PREDICTION", fidelity.only_prediction),
    ):
        if names:
            _warn(f"not compared, only in {side}: {listed(names, len(names))}")
    if fidelity.unpaired:
        without = listed(fidelity.unpaired, len(fidelity.unpaired))
        _warn(f"not compared, as no job of it is on both sides: {without}")
    for sentence in tables.one_sided(fidelity):
        _warn(sentence)
    for note in fidelity.notes:
        say(f"note: {note}")
    say(conclusion)


def _warn(words: str) -> None:
    console.print(plain(words), soft_wrap=True, markup=False, style="yellow")
