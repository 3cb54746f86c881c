"""The findings about kernel and budget, in words."""

from __future__ import annotations

import datetime

import pytest

from emulator.budget_store import MeasuredBudget
from emulator.doctor import (
    budget_finding,
    congestion_control_finding,
    ecn_finding,
    limits_finding,
    qdisc_finding,
)
from emulator.kernel_features import ECN_MARKERS, QDISCS
from emulator.limits.available import AvailableLimits
from emulator.scale import Budget, assumed_budget

NOW = datetime.datetime(2026, 12, 4, 12, tzinfo=datetime.UTC)
STORED = MeasuredBudget(
    hop_bps=2.1e9,
    cpu_share=0.88,
    rate_error=0.004,
    measured_utc=NOW - datetime.timedelta(days=4),
    kernel="6.1.0",
    cpu=None,
    cores=2,
)


def features(*there: str) -> dict[str, bool]:
    return {name: name in there for name in (*QDISCS, *ECN_MARKERS)}


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (("cubic", "reno", "bbr", "dctcp"), "cubic, reno, bbr, dctcp"),
        (("cubic", "reno"), "cubic, reno; not bbr, dctcp"),
    ],
)
def test_congestion_controls_are_there_or_not(there: tuple[str, ...], said: str) -> None:
    finding = congestion_control_finding(there)
    assert (finding.ok, finding.needed, finding.found) == (True, True, said)


def test_a_run_needs_cubic() -> None:
    finding = congestion_control_finding(("reno",))
    assert (finding.ok, finding.needed) == (False, True)
    assert "modprobe tcp_cubic" in finding.remedy


def test_limits_are_kept_or_not() -> None:
    all_of_them = limits_finding(AvailableLimits((), {}))
    assert (all_of_them.ok, all_of_them.found) == (True, "cpu, cpuset, memory")
    remedies = {"cpu": "use sudo", "cpuset": "use sudo", "memory": "mount one"}
    some = limits_finding(AvailableLimits((), {"cpu": "use sudo"}))
    assert (some.ok, some.needed, some.found) == (False, False, "cpuset, memory; not cpu")
    none = limits_finding(AvailableLimits((), remedies))
    assert (none.found, none.remedy) == ("none of cpu, cpuset, memory", "use sudo; mount one")


def test_queueing_disciplines_are_there_or_not() -> None:
    assert qdisc_finding(features("red", "netem", "fq")).ok
    some = qdisc_finding(features("fq", "red"))
    assert (some.ok, some.needed, some.found) == (False, False, "red, fq; not netem")
    assert qdisc_finding(features("fq_codel")).found == "none of red, netem, fq"


def test_one_marker_will_do() -> None:
    some = ecn_finding(features("eBPF"))
    assert (some.ok, some.found) == (True, "eBPF; not red, fq_codel")
    none = ecn_finding(features("fq"))
    assert (none.ok, none.needed, none.found) == (False, False, "none of red, fq_codel, eBPF")
    assert none.remedy


@pytest.mark.parametrize("finding", [qdisc_finding(None), ecn_finding(None)])
def test_what_could_not_be_asked_is_unknown(finding: object) -> None:
    assert getattr(finding, "found", None) == "unknown"
    assert "sudo" in getattr(finding, "remedy", "")


def test_a_measured_budget_is_shown_with_its_age() -> None:
    used = Budget(2.1e9, "measured on 2026-11-30", is_measured=True)
    finding = budget_finding(STORED, used, 2, NOW)
    assert finding.ok
    assert finding.found == (
        "2 cores carry 2.1 Gbit/s x hops (measured on 2026-11-30), of which a run asks for at most "
        "60%; stored: 2.1 Gbit/s x hops at 88% of the CPU, 4 days ago"
    )


def test_without_one_the_way_to_it_is_shown() -> None:
    finding = budget_finding(None, assumed_budget(2), 2, NOW)
    assert (finding.ok, finding.needed) == (False, False)
    assert finding.found == (
        "2 cores carry 1.6 Gbit/s x hops (assumed: run roundelay doctor --measure), of which a run "
        "asks for at most 60%"
    )


def test_a_stored_one_that_is_not_used_is_shown_all_the_same() -> None:
    used = assumed_budget(8, "it was measured on 2026-11-30 with another kernel (6.1; now 6.2)")
    finding = budget_finding(STORED, used, 8, NOW)
    assert not finding.ok
    assert "8 cores carry 6.4 Gbit/s x hops (assumed: the stored budget is not used" in (
        finding.found
    )
    assert "stored: 2.1 Gbit/s" in finding.found
