"""The network code on a stock kernel. That reading back finds no difference is in each check."""

from __future__ import annotations

from tests.guest.conftest import Observed


def test_every_planned_namespace_is_made_and_removed(observed: Observed) -> None:
    seen = observed("network")
    assert seen["made"] == seen["planned"]
    assert seen["left"] == []


def test_bytes_are_counted_at_the_port_and_in_their_jobs_class(observed: Observed) -> None:
    seen = observed("network")
    assert seen["link_sent_bytes"] > seen["payload_bytes"]
    assert seen["class_sent_bytes"]["one"] > seen["payload_bytes"]
    assert seen["class_sent_bytes"]["two"] == 0
    assert seen["dropped_packets"] == 0


def test_a_queue_for_all_jobs_is_built_and_removed(observed: Observed) -> None:
    assert observed("queue of all")["left"] == []


def test_a_stock_kernel_has_both_ways_of_marking(observed: Observed) -> None:
    assert observed("marking")["support"] == {"why_no_marker": None, "why_no_red": None}


def test_a_red_queue_is_a_step_marker_and_its_marks_are_received(observed: Observed) -> None:
    seen = observed("marking")
    assert seen["kind"] == "red"
    # Twenty datagrams fit below the threshold, and more where some left while others came.
    assert 0 < seen["red"]["marked"] <= seen["datagrams"] - 20
    assert seen["received"]["right0"] == seen["red"]["marked"]
    assert seen["red"]["early"] == seen["red"]["over_limit"] == seen["red"]["other"] == 0


def test_the_marker_works_on_a_stock_kernel(observed: Observed) -> None:
    seen = observed("marking")
    assert seen["marker"]["packets"] == seen["datagrams"]
    assert 0 < seen["marker"]["marked"] <= seen["datagrams"] - 20
    assert seen["received"]["right1"] == seen["marker"]["marked"]
    assert seen["left"] == []
