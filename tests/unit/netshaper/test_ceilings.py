"""A ceiling as tc's words, and what the kernel holds instead."""

from __future__ import annotations

import pytest

from netshaper.ceilings import ceiling_bps, ceiling_command, ceiling_difference
from netshaper.disciplines import LEAST_RATE_BPS, JobTraffic
from netshaper.netlink import ClassCounters
from netshaper.plan import PlannedPort, plan_network
from traces.cluster import Port, dumbbell

JOB = "one"
PORT_BPS = 100e6


@pytest.fixture(name="end")
def planned_end() -> PlannedPort:
    traffic = (JobTraffic(JOB), JobTraffic("two"))
    plan = plan_network("run1", "n0", dumbbell(1, 1, 1e9), traffic, 10.0, 4)
    end = plan.ports[Port("switch-left", "switch-right")]
    assert end.shape.rate_bps == PORT_BPS
    return end


def found(end: PlannedPort, ceil_bytes_per_s: int) -> dict[int, ClassCounters]:
    minor = end.classes.of_job[JOB]
    return {minor: ClassCounters(minor, 1, 1, ceil_bytes_per_s, 1, 1, 0, 0, 0, 0, 0)}


def word_after(words: tuple[str, ...], name: str) -> str:
    return words[words.index(name) + 1]


@pytest.mark.parametrize("wanted_bps", [0.0, 1e3, 10e6, 99e6, 1e9, float("inf")])
def test_no_class_is_promised_more_than_it_may_take_nor_that_more_than_the_port(
    end: PlannedPort, wanted_bps: float
) -> None:
    words = ceiling_command(end, JOB, wanted_bps).argv
    rate_bps = int(word_after(words, "rate").removesuffix("bit"))
    ceil_bps = int(word_after(words, "ceil").removesuffix("bit"))
    assert 0 < rate_bps <= ceil_bps <= PORT_BPS
    assert ceil_bps == max(LEAST_RATE_BPS, min(wanted_bps, PORT_BPS))


def test_the_class_of_the_job_is_changed_where_it_is(end: PlannedPort) -> None:
    command = ceiling_command(end, JOB, 10e6)
    assert command.namespace == end.namespace
    assert word_after(command.argv, "dev") == end.device
    assert word_after(command.argv, "classid") == f"1:{end.classes.of_job[JOB]:x}"
    assert "change" in command.argv


def test_what_the_kernel_holds_is_compared_in_its_own_unit(end: PlannedPort) -> None:
    assert ceiling_difference(end, JOB, 10e6, found(end, 1_250_000)) is None


def test_another_ceiling_is_told_with_both_values(end: PlannedPort) -> None:
    difference = ceiling_difference(end, JOB, 10e6, found(end, 1_250_001))
    assert difference is not None
    assert f"{end.namespace} {end.device} 1:" in difference
    assert difference.endswith("ceil (bytes/s): planned 1250000, found 1250001")


def test_a_class_that_is_missing_is_told(end: PlannedPort) -> None:
    difference = ceiling_difference(end, JOB, 10e6, {})
    assert difference is not None
    assert "lacks the class 1:" in difference


def test_an_infinite_wish_is_the_port_s_own_rate(end: PlannedPort) -> None:
    assert ceiling_bps(end, float("inf")) == PORT_BPS
