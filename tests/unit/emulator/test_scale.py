"""The one number that rates and bytes are divided by."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from emulator.scale import (
    BITS_PER_S_AND_CORE,
    BUDGET_SHARE,
    GOOD_PACKETS,
    LEAST_RATE_BPS,
    Budget,
    ScalePlan,
    assumed_budget,
    load_hop_bps,
    most_load_hop_bps,
    plan_scale,
    smallest_transfer_bytes,
)
from netshaper.shaping import FRAME_BYTES, TCP_PAYLOAD_BYTES
from tests.unit.builders import (
    GBIT,
    TOY_COMPUTE_S,
    all_to_all_job,
    make_arm,
    make_job,
    toy_cluster,
    toy_pair,
    toy_transfer,
)
from traces.arm import Arm, Job
from traces.cluster import Cluster, Link, dumbbell
from traces.demand import Demand, Pattern
from traces.errors import BadInputError
from traces.link_events import Change, LinkEvent
from traces.scenario_spec import SchedulerSpec
from traces.topologies.cassini_24 import cassini_24
from traces.topologies.leaf_spine import leaf_spine
from traces.topologies.single_switch import single_switch


def two_significant_digits(value: float) -> bool:
    return float(f"{value:.1e}") == value


def arm_with_transfers(*sizes: float, rate_bps: float = GBIT) -> Arm:
    transfers = tuple(toy_transfer(bytes=size) for size in sizes)
    jobs = (make_job("one", demand=Demand(TOY_COMPUTE_S, transfers)),)
    return make_arm(jobs, cluster=dumbbell(2, 2, rate_bps))


def test_the_load_is_rate_times_hops_of_every_connection() -> None:
    # each job: left to right and back, three ports each
    assert load_hop_bps(toy_cluster(), toy_pair()) == 2 * 2 * 3 * GBIT


def test_a_slow_middle_bounds_what_crosses_it() -> None:
    assert load_hop_bps(dumbbell(2, 2, GBIT, GBIT / 4), toy_pair()) == 2 * 2 * 3 * GBIT / 4


def test_two_transfers_on_one_connection_load_it_once() -> None:
    twice = Demand(TOY_COMPUTE_S, (toy_transfer(), toy_transfer()))
    assert load_hop_bps(toy_cluster(), [make_job("one", demand=twice)]) == 2 * 3 * GBIT


def test_the_smallest_transfer_is_the_smallest_flow() -> None:
    assert smallest_transfer_bytes([all_to_all_job()]) == pytest.approx(5e6 / 3)
    assert smallest_transfer_bytes([make_job("quiet", demand=Demand(0.1, ()))]) == math.inf


def test_a_given_divisor_is_kept() -> None:
    plan = plan_scale([make_arm()], assumed_budget(2), rate_divisor=123.4)
    assert (plan.rate_divisor, plan.reason) == (123.4, "given in the scenario")
    assert plan.load_hop_bps == pytest.approx(12 * GBIT / 123.4)


def test_large_transfers_are_divided_until_the_packets_are_just_good() -> None:
    plan = plan_scale([arm_with_transfers(1e9, rate_bps=1e10)], assumed_budget(2))
    assert plan.rate_divisor == 1400  # 1e9 / 1514 / 500 = 1321, to two digits up
    assert GOOD_PACKETS * 0.9 < plan.smallest_transfer_packets <= GOOD_PACKETS
    assert "packets" in plan.reason


def test_small_transfers_are_divided_as_the_box_needs() -> None:
    plan = plan_scale([arm_with_transfers(5e6)], assumed_budget(2))
    assert plan.rate_divisor == 6.7  # more than 5e6 / 1514 / 500 = 6.605, and 6e9 / 0.96e9 = 6.25
    assert plan_scale([arm_with_transfers(5e6)], assumed_budget(1)).rate_divisor == 13
    assert "budget" in plan_scale([arm_with_transfers(5e6)], assumed_budget(1)).reason


MEASURED = Budget(4.8e9, "measured on 2026-11-30", is_measured=True)


def test_the_budget_is_a_cores_many_times_where_it_is_assumed() -> None:
    budget = assumed_budget(4)
    assert (budget.hop_bps, budget.is_measured) == (4 * BITS_PER_S_AND_CORE, False)
    assert budget.source == "assumed: run roundelay doctor --measure"


def test_an_assumed_budget_says_why_a_stored_one_is_not_used() -> None:
    source = assumed_budget(4, "it is torn").source
    assert source.startswith("assumed: the stored budget is not used, for it is torn; ")
    assert source.endswith("run roundelay doctor --measure")


def test_a_measured_budget_is_used_with_the_same_share_and_named() -> None:
    arm = arm_with_transfers(5e4)  # so few packets that only the budget decides
    plan = plan_scale([arm], MEASURED)
    assert plan.budget_hop_bps == MEASURED.hop_bps
    assert plan.budget_source == "measured on 2026-11-30"
    assert plan.rate_divisor == 2.1  # 6e9 / (0.6 x 4.8e9) = 2.083, to two digits up
    assert plan.reason == "60% of this box's budget, measured on 2026-11-30"


@pytest.mark.parametrize("budget", [MEASURED, assumed_budget(2)], ids=["measured", "assumed"])
@pytest.mark.parametrize("size", [5e4, 1e7, 8e9], ids=["budget", "packets", "least-rate"])
def test_every_automatic_reason_says_where_the_budget_is_from(budget: Budget, size: float) -> None:
    assert plan_scale([arm_with_transfers(size)], budget).reason.endswith(f", {budget.source}")


def test_a_warning_about_the_budget_says_where_it_is_from() -> None:
    (warning,) = plan_scale([make_arm()], MEASURED, rate_divisor=2.0).warnings
    assert warning.endswith("60% of this box's budget of 4.80 (measured on 2026-11-30)")


def test_the_divisor_is_that_of_the_worst_arm() -> None:
    small, large = arm_with_transfers(1e7), arm_with_transfers(1e7, rate_bps=1e10)
    together = plan_scale([small, large], assumed_budget(2))
    assert together.rate_divisor == plan_scale([large], assumed_budget(2)).rate_divisor
    assert together.rate_divisor > plan_scale([small], assumed_budget(2)).rate_divisor


def test_a_link_is_never_made_faster() -> None:
    assert (
        plan_scale([arm_with_transfers(1e3, rate_bps=1e6)], assumed_budget(64)).rate_divisor == 1.0
    )


def test_without_traffic_there_is_a_plan_without_warnings() -> None:
    plan = plan_scale([make_arm([make_job("quiet", demand=Demand(0.1, ()))])], assumed_budget(2))
    assert plan.reason == "no transfer crosses a link"
    assert plan.warnings == ()


@given(st.floats(1e5, 1e12), st.floats(1e6, 4e11), st.integers(1, 64))
def test_an_automatic_divisor_is_readable_and_keeps_the_budget(
    size: float, rate_bps: float, cores: int
) -> None:
    # the least that will do: packets enough and no more, the budget kept, no link made faster
    needed = max(
        size / FRAME_BYTES / GOOD_PACKETS,
        6 * rate_bps / (cores * BITS_PER_S_AND_CORE * BUDGET_SHARE),
        1.0,
    )
    assume(rate_bps / needed > 1.2 * LEAST_RATE_BPS)
    plan = plan_scale([arm_with_transfers(size, rate_bps=rate_bps)], assumed_budget(cores))
    assert two_significant_digits(plan.rate_divisor)
    assert plan.rate_divisor >= 1
    assert plan.load_hop_bps <= cores * BITS_PER_S_AND_CORE * BUDGET_SHARE * (1 + 1e-6)
    assert needed * (1 - 1e-6) <= plan.rate_divisor <= needed * 1.11


def test_a_divisor_that_leaves_no_rate_is_refused_with_the_least() -> None:
    assert plan_scale([make_arm()], assumed_budget(2), rate_divisor=1000.0).rate_divisor == 1000.0
    with pytest.raises(BadInputError) as caught:
        plan_scale([make_arm()], assumed_budget(2), rate_divisor=1001.0)
    assert caught.value.key == "scale.rate_divisor"
    assert "1 Mbit/s" in caught.value.allowed


def test_the_slowest_link_decides_whether_a_rate_is_left() -> None:
    with pytest.raises(BadInputError):
        plan_scale(
            [make_arm(cluster=dumbbell(2, 2, GBIT, GBIT / 2))],
            assumed_budget(2),
            rate_divisor=600.0,
        )


def test_an_automatic_divisor_leaves_every_link_a_rate() -> None:
    # 8 GB on 1 Gbit/s: 500 packets would take 11,000 times smaller, and 7 times suffices the box
    plan = plan_scale([arm_with_transfers(8e9)], assumed_budget(2))
    assert GBIT / plan.rate_divisor >= LEAST_RATE_BPS


def test_a_load_above_the_budget_is_warned_of() -> None:
    (warning,) = plan_scale([make_arm()], assumed_budget(2), rate_divisor=2.0).warnings
    assert "Gbit/s x hops" in warning


def test_a_transfer_of_a_few_packets_is_warned_of() -> None:
    (warning,) = plan_scale([make_arm()], assumed_budget(2), rate_divisor=1000.0).warnings
    assert "the smallest transfer is 3 packets" in warning


def test_a_good_plan_has_no_warnings() -> None:
    assert plan_scale([make_arm()], assumed_budget(2)).warnings == ()


@given(st.floats(1.0, 1e12), st.floats(1.0, 1e5))
def test_the_frames_of_the_payload_fill_the_wire_bytes_within_one_frame(
    wire_bytes: float, divisor: float
) -> None:
    plan = ScalePlan(divisor, 1.0, "a test", 1.0, 1.0, "")
    payload = plan.payload_bytes(wire_bytes)
    frames = math.ceil(payload / TCP_PAYLOAD_BYTES)
    on_the_wire = payload + frames * (FRAME_BYTES - TCP_PAYLOAD_BYTES)
    assert payload >= 1
    assert abs(on_the_wire - wire_bytes / divisor) <= FRAME_BYTES


def test_all_to_all_loads_every_pair() -> None:
    # 12 ordered pairs of 4 servers: 4 on one side (2 ports), 8 across (3 ports)
    assert load_hop_bps(toy_cluster(), [all_to_all_job()]) == (4 * 2 + 8 * 3) * GBIT
    assert all_to_all_job().profile.demand.transfers[0].pattern is Pattern.ALL_TO_ALL


def test_the_scale_fits_every_rate_that_a_link_will_have() -> None:
    link = toy_cluster().links[-1]
    budget = Budget(1e9, "a test", is_measured=False)
    quiet, faster, slower = (
        make_arm(events=events)
        for events in (
            (),
            tuple(LinkEvent(1.0, x, Change.RATE, 2e9, 2e9) for x in toy_cluster().links),
            (LinkEvent(1.0, link, Change.RATE, 1e6, 1e6),),
        )
    )
    assert plan_scale([faster], budget, 10.0).load_hop_bps == pytest.approx(
        2 * plan_scale([quiet], budget, 10.0).load_hop_bps
    )
    with pytest.raises(BadInputError) as caught:
        plan_scale([slower], Budget(1e6, "a test", is_measured=False))
    assert caught.value.key == "events"


@pytest.mark.parametrize(
    ("cluster", "hops"),
    [
        (single_switch(4, GBIT), 2),
        (dumbbell(2, 2, GBIT), 3),
        (leaf_spine(4, 2, 2, GBIT), 4),
        (cassini_24(), 4),
    ],
)
def test_wherever_jobs_run_servers_send_no_more_than_this(cluster: Cluster, hops: int) -> None:
    most = most_load_hop_bps(cluster)
    ports_bps = [cluster.rate_bps(port) for port in cluster.ports]
    sent_bps = sum(cluster.rate_bps(p) for p in cluster.ports if p.node in cluster.servers)
    assert most == min(hops * sent_bps, sum(ports_bps))


def test_the_longest_path_need_not_begin_at_the_first_server() -> None:
    """Three switches in a row; the first server is in the middle."""
    links = (
        Link("middle", "s1", GBIT), Link("left", "s0", GBIT), Link("right", "s2", GBIT),
        Link("s0", "s1", 10 * GBIT), Link("s1", "s2", 10 * GBIT),
    )  # fmt: skip
    row = Cluster(("middle", "left", "right"), ("s0", "s1", "s2"), links)
    assert most_load_hop_bps(row) == 3 * GBIT * 4


@given(st.data())
def test_no_placement_asks_for_more(data: st.DataObject) -> None:
    cluster = leaf_spine(4, 2, 1, GBIT)
    jobs: list[Job] = []
    free = list(cluster.servers)
    while len(free) >= 2:
        workers = data.draw(st.integers(2, len(free)))
        on = data.draw(st.permutations(free))[:workers]
        free = [server for server in free if server not in on]
        jobs.append(make_job(f"job{len(jobs)}", on))
    assert load_hop_bps(cluster, jobs) <= most_load_hop_bps(cluster)


def test_a_scheduled_arm_is_scaled_for_the_worst_placement() -> None:
    given_arm = make_arm()
    job = toy_pair()[0].model_copy(update={"servers": ()})
    scheduler = SchedulerSpec(placement="themis")
    scheduled = make_arm((job,), scheduler=scheduler)
    budget = assumed_budget(2)
    assert plan_scale([scheduled], budget, 10.0).load_hop_bps == pytest.approx(
        most_load_hop_bps(given_arm.cluster) / 10.0
    )
