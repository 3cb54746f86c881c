"""Every invariant fails by its own evidence alone, and the worst decides."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.verdict import (
    BoxEvidence,
    Invariant,
    PortEvidence,
    RateChange,
    Status,
    SwitchEvidence,
    Verdict,
    invariants_of,
    judge,
    rate_excess_bytes,
)
from tests.unit.builders import sound_box, sound_port, sound_switch


def verdict(
    ports: Sequence[PortEvidence] | None = None,
    switches: Sequence[SwitchEvidence] | None = None,
    box: BoxEvidence | None = None,
) -> Verdict:
    return judge(
        invariants_of(
            [sound_port()] if ports is None else ports,
            [sound_switch()] if switches is None else switches,
            sound_box() if box is None else box,
        )
    )


def test_sound_evidence_is_valid() -> None:
    found = verdict()
    assert found.status is Status.VALID
    assert found.failed == ()
    assert len(found.invariants) == 9


def test_no_evidence_of_ports_is_no_failure_of_ports() -> None:
    assert verdict(ports=[], switches=[]).status is Status.VALID


FAILURES = [
    ("completeness", Status.SUSPECT, {"box": sound_box(iterations_measured=9)}),
    ("link calibration", Status.SUSPECT, {"ports": [sound_port(calibrated_bps=8e6 * 1.021)]}),
    ("link calibration", Status.SUSPECT, {"ports": [sound_port(calibrated_bps=8e6 * 0.979)]}),
    ("rate bound", Status.INVALID, {"ports": [sound_port(sent_bytes=[0, 1_005_000, 2_000_000])]}),
    ("no drops", Status.INVALID, {"ports": [sound_port(dropped_packets=1)]}),
    ("byte conservation", Status.INVALID, {"switches": [sound_switch(sent_bytes=3999)]}),
    ("byte conservation", Status.INVALID, {"switches": [sound_switch(backlog_bytes=1001)]}),
    ("classified", Status.INVALID, {"ports": [sound_port(unclassified_bytes=60)]}),
    ("CPU headroom", Status.SUSPECT, {"box": sound_box(idle_share=0.09)}),
    ("steal", Status.SUSPECT, {"box": sound_box(steal_share=0.03)}),
    ("timer lateness", Status.SUSPECT, {"box": sound_box(lateness=[0.0] * 50 + [0.02] * 50)}),
]


@pytest.mark.parametrize(("name", "status", "evidence"), FAILURES)
def test_each_invariant_fails_alone_and_gives_its_status(
    name: str, status: Status, evidence: dict[str, object]
) -> None:
    found = verdict(**evidence)  # type: ignore[arg-type]
    assert [invariant.name for invariant in found.failed] == [name]
    assert found.status is status


@pytest.mark.parametrize("place", [0, 1])
def test_one_bad_port_among_good_ones_is_seen(place: int) -> None:
    ports = [sound_port(), sound_port()]
    ports[place] = dataclasses.replace(ports[place], calibrated_bps=4e6)
    (failed,) = verdict(ports=ports).failed
    assert failed.value == pytest.approx(0.5)


def test_a_switch_that_dropped_is_not_blamed_for_the_missing_bytes() -> None:
    found = verdict(switches=[sound_switch(sent_bytes=0, dropped_packets=3)])
    assert found.status is Status.VALID


def test_on_the_limit_is_still_good() -> None:
    box = sound_box(idle_share=0.10, steal_share=0.02, lateness=[0.01] * 100)
    assert verdict(box=box).status is Status.VALID


def test_a_few_late_sends_in_a_hundred_thousand_are_no_failure() -> None:
    assert verdict(box=sound_box(lateness=[0.0] * 1000 + [1.0] * 5)).status is Status.VALID


def test_a_run_without_timed_sends_has_no_lateness() -> None:
    assert verdict(box=sound_box(lateness=[])).status is Status.VALID


def invariant(ok: bool, on_failure: Status) -> Invariant:
    return Invariant("x", ok, 0.0, 0.0, "", on_failure)


@pytest.mark.parametrize(
    ("failures", "status"),
    [
        ([], Status.VALID),
        ([Status.SUSPECT], Status.SUSPECT),
        ([Status.INVALID], Status.INVALID),
        ([Status.SUSPECT, Status.INVALID, Status.SUSPECT], Status.INVALID),
    ],
)
def test_the_worst_failure_decides(failures: list[Status], status: Status) -> None:
    held = [invariant(True, Status.INVALID), invariant(True, Status.SUSPECT)]
    found = judge(held + [invariant(False, failure) for failure in failures])
    assert found.status is status
    assert len(found.failed) == len(failures)


def excess_of_all_pairs(port: PortEvidence) -> float:
    return max(
        port.sent_bytes[j]
        - port.sent_bytes[i]
        - port.rate_bps / 8 * (port.after_s[j] - port.before_s[i])
        - port.burst_bytes
        for i, j in itertools.combinations(range(len(port.sent_bytes)), 2)
    )


@given(
    st.lists(
        st.tuples(st.floats(0.001, 0.5), st.floats(0, 0.05), st.integers(0, 300_000)),
        min_size=2,
        max_size=25,
    ),
    st.floats(1e3, 1e7),
    st.floats(0, 1e5),
)
def test_the_rate_excess_is_that_of_the_worst_of_all_windows(
    readings: list[tuple[float, float, int]], rate_bps: float, burst: float
) -> None:
    before = list(itertools.accumulate(gap + width for gap, width, _ in readings))
    after = [start + width for start, (_, width, _) in zip(before, readings, strict=True)]
    sent = list(itertools.accumulate(size for _, _, size in readings))
    port = sound_port(
        rate_bps=rate_bps, burst_bytes=burst, before_s=before, after_s=after, sent_bytes=sent
    )
    expected = excess_of_all_pairs(port)
    assert rate_excess_bytes(port) == pytest.approx(expected, rel=1e-9, abs=1e-3)


def test_a_short_excess_in_a_long_quiet_run_is_found() -> None:
    times = [float(second) for second in range(100)]
    sent = [0] * 50 + [1_500_000] * 50
    port = sound_port(before_s=times, after_s=times, sent_bytes=sent)
    assert rate_excess_bytes(port) == pytest.approx(1_500_000 - 1_000_000 - 1514)


def test_a_late_reading_is_no_excess() -> None:
    port = sound_port(after_s=[0.0, 1.5, 2.0], sent_bytes=[0, 1_500_000, 2_000_000])
    assert rate_excess_bytes(port) <= 0


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_samples_show_no_excess(count: int) -> None:
    port = sound_port(before_s=[0.0] * count, after_s=[0.0] * count, sent_bytes=[9] * count)
    assert rate_excess_bytes(port) == 0.0


@pytest.mark.parametrize(
    ("changes", "sent", "excess"),
    [
        # 1 MB/s until 2 s, then half of it
        ([RateChange(2.0, 2.0, 4e6)], [0, 1_000_000, 2_000_000, 2_500_000, 3_000_000], 0),
        ([RateChange(2.0, 2.0, 4e6)], [0, 1_000_000, 2_000_000, 3_000_000, 3_500_000], 500_000),
        # while a rate falls the old one counts, while it rises the new one
        ([RateChange(2.0, 3.0, 4e6)], [0, 1_000_000, 2_000_000, 3_000_000, 3_500_000], 0),
        ([RateChange(2.0, 3.0, 16e6)], [0, 1_000_000, 2_000_000, 4_000_000, 6_000_000], 0),
        # almost nothing for a second, and then what it was
        (
            [RateChange(1.0, 1.0, 8e3), RateChange(2.0, 2.0, 8e6)],
            [0, 1_000_000, 1_001_000, 2_001_000, 3_001_000],
            0,
        ),
    ],
)
def test_the_rate_in_force_bounds_what_a_port_sends(
    changes: list[RateChange], sent: list[int], excess: int
) -> None:
    times = [0.0, 1.0, 2.0, 3.0, 4.0]
    port = sound_port(before_s=times, after_s=times, sent_bytes=sent, changes=changes)
    assert rate_excess_bytes(port) == pytest.approx(excess - port.burst_bytes)
