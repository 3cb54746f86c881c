"""Which way of marking is taken."""

from __future__ import annotations

import pytest

from netshaper.ecn.capability import MarkingSupport, probe_namespace
from netshaper.ecn.marking import Marking
from traces.errors import MissingCapabilityError


def test_the_marker_is_taken_where_it_works() -> None:
    assert MarkingSupport(None, None).choice is Marking.MARKER
    assert MarkingSupport(None, "no red").choice is Marking.MARKER


def test_red_is_taken_where_only_it_works() -> None:
    support = MarkingSupport("no bpf", None)
    support.require()
    assert support.choice is Marking.RED


def test_where_neither_works_both_reasons_and_a_remedy_are_given() -> None:
    support = MarkingSupport("no bpf", "no red")
    assert support.choice is Marking.UNAVAILABLE
    with pytest.raises(MissingCapabilityError, match=r"no bpf.*no red.*run as root"):
        support.require()


def test_the_probes_namespace_carries_the_run() -> None:
    assert probe_namespace("run1") == "roundelay-run1-probe-ecn"
