"""A measured sensitivity for a person at a terminal."""

from __future__ import annotations

from harness.cli.show import print_warnings
from harness.cli.show_words import plain, print_words, say
from harness.report.profiles import sensitivity_tables as tables
from harness.report.profiles.sensitivity_sentences import check_sentence, drift_sentence, outcome
from profiler.measuring.sensitivity_result import SensitivityResult


def print_sensitivity(model: str, result: SensitivityResult) -> None:
    """The curve, the matrix, what it rests on, and what was not as it should be."""
    print_words(tables.curve(result))
    if result.found.grid.has_memory_axis:
        print_words(tables.matrix(result))
    if result.checked.by_point:
        print_words(tables.checks(result))
        say(check_sentence(result))
    say(outcome(model, result))
    say(drift_sentence(result))
    for clause in result.unenforced:
        say(f"not enforced: {clause}")
    print_warnings(plain(note) for note in result.found.notes)
