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
