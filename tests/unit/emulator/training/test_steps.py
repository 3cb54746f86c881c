"""Prepared items become steps: none lost, none twice, and never more ready than may be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emulator.training.steps import StepCount

EVENTS = st.lists(
    st.one_of(st.sampled_from(["prepare", "take"]), st.integers(1, 7)), min_size=1, max_size=200
)


@given(items=st.integers(1, 7), prefetch=st.integers(1, 4), events=EVENTS)
def test_ready_steps_are_whole_few_and_follow_what_was_taken(
    items: int, prefetch: int, events: list[str | int]
) -> None:
    steps = StepCount(items, prefetch, taken=0, handed_over=0, prepared=0)
    queue: list[int] = []  # what the trainer finds ready: items of each step
    taken = prepared = 0
    for event in events:
        if event == "prepare" and steps.may_prepare:
            steps.prepared += 1
            prepared += 1
        elif event == "take" and queue:
            taken += queue.pop(0)
            steps.take()
        elif isinstance(event, int):
            del queue[: steps.recut(event)]
        queue += [steps.items] * steps.hand_over()
        assert steps.taken == taken
        assert steps.handed_over == taken + sum(queue) <= steps.prepared == prepared
        assert set(queue) <= {steps.items}
        assert len(queue) <= prefetch


def test_a_pipeline_that_nobody_takes_from_stops_with_a_full_queue() -> None:
    steps = StepCount(3, 2, taken=0, handed_over=0, prepared=0)
    ready = 0
    while steps.may_prepare:
        steps.prepared += 1
        ready += steps.hand_over()
    assert (steps.prepared, ready) == (6, 2)
    steps.take()
    assert steps.may_prepare


def test_larger_steps_are_cut_from_the_items_of_smaller_ones() -> None:
    steps = StepCount(2, 3, taken=10, handed_over=16, prepared=16)
    assert steps.recut(4) == 3
    assert steps.hand_over() == 1
    assert (steps.handed_over, steps.prepared) == (14, 16)
