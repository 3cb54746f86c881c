"""How the workers on a server share its CPUs and memory: what always holds, and Synergy's rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.placed.policy import Placement
from harness.scheduling.placed.resources import proportional_share, shares_of
from tests.unit.builders import GBIT, TOY_COMPUTE_S, toy_transfer
from tests.unit.harness.placed_builders import arriving, placed_arm, scheduler_spec
from traces.arm import Arm, Job
from traces.demand import Demand
from traces.input_pipeline import Share, fair_share, find_pipeline
from traces.server_pool import ServerGroup
from traces.topologies.single_switch import single_switch

MODELS = ("alexnet", "res18", "res50", "mobilenet", "m5", "deepspeech", "gnmt", None)
SILENT = Demand(TOY_COMPUTE_S, ())


def job(name: str, workers: int, model: str | None, demand: Demand | None = None) -> Job:
    pipeline = None if model is None else find_pipeline(model)
    found = arriving(name, workers, demand=demand)
    return found.model_copy(update={"input_pipeline": pipeline})


def arm_of(
    jobs: Sequence[Job], mechanism: str = "tune", servers: int = 3, gpus: int = 2, cpus: float = 6.0
) -> Arm:
    return placed_arm(
        jobs,
        cluster=single_switch(servers, GBIT),
        gpus=gpus,
        scheduler=scheduler_spec(mechanism=mechanism),
        resources=ServerGroup(servers, gpus, cpus, gpus * 62.5e9),
    )


@st.composite
def placements(draw: st.DrawFn) -> tuple[Arm, Placement]:
    """Jobs on some of the GPUs of some servers, in any way."""
    servers, gpus = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    slots = draw(st.permutations([f"server{n}" for n in range(servers) for _ in range(gpus)]))
    jobs, placement = [], {}
    while slots and draw(st.booleans()):
        workers = draw(st.integers(1, min(4, len(slots))))
        name = f"job{len(jobs)}"
        demand = draw(st.sampled_from([None, SILENT]))
        jobs.append(job(name, workers, draw(st.sampled_from(MODELS)), demand))
        placement[name], slots = tuple(slots[:workers]), slots[workers:]
    jobs.append(job("waiting", 1, "res18"))
    cpus = gpus * draw(st.sampled_from([1.0, 3.0, 3.5, 6.0]))
    return arm_of(jobs, servers=servers, gpus=gpus, cpus=cpus), placement


@given(placements())
def test_no_server_gives_more_than_it_has(case: tuple[Arm, Placement]) -> None:
    arm, placement = case
    assert arm.resources is not None
    cpus: dict[str, float] = defaultdict(float)
    memory_bytes: dict[str, float] = defaultdict(float)
    shares = shares_of(arm, placement)
    assert list(shares) == [each.id for each in arm.jobs if each.id in placement]
    for name, share in shares.items():
        for server in placement[name]:
            cpus[server] += share.cpus
            memory_bytes[server] += share.memory_bytes
    assert max(cpus.values(), default=0) <= arm.resources.cpus * (1 + 1e-6)
    assert max(memory_bytes.values(), default=0) <= arm.resources.memory_bytes * (1 + 1e-6)


@given(placements())
def test_nobody_is_slower_than_in_proportion_to_gpus(case: tuple[Arm, Placement]) -> None:
    arm, placement = case
    in_proportion = proportional_share(arm)
    shares = shares_of(arm, placement)
    for each in arm.jobs:
        if each.id in placement:
            fair, given_now = (
                each.on(placement[each.id]).with_share(share)
                for share in (in_proportion, shares[each.id])
            )
            sends = each.profile.demand is not SILENT and len(set(placement[each.id])) > 1
            alone_s = 0.14 if sends else 0.0
            fair_s, now_s = (
                max(alone_s, TOY_COMPUTE_S, other.profile.demand.input_s)
                for other in (fair, given_now)
            )
            assert now_s <= fair_s * (1 + 1e-6)


@given(placements())
def test_the_same_placement_is_shared_alike(case: tuple[Arm, Placement]) -> None:
    arm, placement = case
    assert shares_of(arm, placement) == shares_of(arm, dict(reversed(list(placement.items()))))


def test_proportional_shares_go_with_gpus() -> None:
    arm = arm_of([job("a", 1, "res18"), job("b", 2, "gnmt")], "proportional")
    found = shares_of(arm, {"a": ("server0",), "b": ("server0", "server1")})
    assert found == {"a": Share(3.0, 62.5e9), "b": Share(3.0, 62.5e9)}


def test_without_a_mechanism_nothing_is_shared() -> None:
    arm = placed_arm([arriving("a")])
    assert proportional_share(arm) is None
    assert shares_of(arm, {"a": ("server0", "server1", "server2")}) == {}


def test_what_one_leaves_another_takes() -> None:
    arm = arm_of([job("few", 1, "gnmt", SILENT), job("many", 1, "mobilenet", SILENT)], cpus=7.0)
    found = shares_of(arm, {"few": ("server0",), "many": ("server0",)})
    assert (found["few"].cpus, found["many"].cpus) == (1.0, 6.0)


def test_whom_it_does_not_fit_gets_its_share() -> None:
    arm = arm_of([job("few", 1, "gnmt", SILENT), job("many", 1, "res18", SILENT)])
    found = shares_of(arm, {"few": ("server0",), "many": ("server0",)})
    assert (found["few"].cpus, found["many"].cpus) == (1.0, 3.0)  # it wishes for all six


def test_who_has_more_than_its_share_gives_it_back() -> None:
    # In proportion each has 2 of 6 CPUs. The largest job comes first and has 4 of them, and then
    # the last has none of the 2 that are left with the second.
    jobs = [
        job(name, workers, "res50", SILENT) for name, workers in (("large", 2), ("b", 1), ("c", 1))
    ]
    arm = arm_of(jobs, gpus=3)
    found = shares_of(arm, {"large": ("server0", "server1"), "b": ("server0",), "c": ("server0",)})
    assert arm.resources is not None
    assert all(share == fair_share(arm.resources) for share in found.values())


def test_a_job_has_the_same_on_all_its_servers() -> None:
    arm = arm_of(
        [job("wide", 2, "mobilenet", SILENT), job("few", 1, "gnmt"), job("rival", 1, "res50")],
        cpus=7.0,
    )
    free = {"wide": ("server0", "server1"), "few": ("server0",)}
    assert shares_of(arm, free)["wide"].cpus == 6.0
    taken = {"wide": ("server0", "server1"), "few": ("server0",), "rival": ("server1",)}
    assert shares_of(arm, taken)["wide"].cpus == 3.5


def test_two_workers_of_a_job_on_a_server_divide_what_it_has() -> None:
    arm = arm_of([job("one", 2, "res18", SILENT)])
    assert shares_of(arm, {"one": ("server0", "server0")})["one"].cpus == 3.0
    assert shares_of(arm, {"one": ("server0", "server1")})["one"].cpus == 6.0


def test_what_stays_on_a_server_hides_nothing() -> None:
    arm = arm_of([job("one", 2, "res18")], cpus=24.0, gpus=4)
    assert shares_of(arm, {"one": ("server0", "server0")})["one"].cpus == 9.0
    assert shares_of(arm, {"one": ("server0", "server1")})["one"].cpus == 6.0


@pytest.mark.parametrize(("transfer_bytes", "wished"), [(5e6, 6.0), (20e6, 3.0)])
def test_who_sends_for_long_wishes_for_less(transfer_bytes: float, wished: float) -> None:
    """The pipeline hides behind 140 ms of compute and transfer, or behind 260 ms."""
    demand = Demand(TOY_COMPUTE_S, (toy_transfer(bytes=transfer_bytes),))
    arm = arm_of([job("one", 2, "res18", demand)], cpus=24.0, gpus=4)
    assert shares_of(arm, {"one": ("server0", "server1")})["one"].cpus == wished
