"""Finds what repeats at the end of a sequence, such as the iterations of a training loop."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def repeating_end(sequence: Sequence[Hashable]) -> tuple[int, int]:
    """The longest end of ``sequence`` that is a part of it twice or more, over and over.

    Returns the length of the shortest such part, and how often the end has all of it; 0 and 0
    where no end repeats. What comes before, such as the set-up of a job, need not repeat. Takes
    time in proportion to the length (the prefix function of Knuth, Morris and Pratt, backwards).
    """
    backwards = sequence[::-1]
    borders = [0] * len(backwards)
    period = length = 0
    for end in range(1, len(backwards)):
        border = borders[end - 1]
        while border and backwards[end] != backwards[border]:
            border = borders[border - 1]
        borders[end] = border + (backwards[end] == backwards[border])
        shortest = end + 1 - borders[end]
        if 2 * shortest <= end + 1:
            period, length = shortest, end + 1
    return period, length // period if period else 0
