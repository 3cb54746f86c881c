"""The commands that build a network.

``golden/`` holds the whole list for a small dumbbell under each discipline. After a change that is
meant, write them anew with ``REGENERATE_GOLDEN=1 python -m pytest
tests/unit/netshaper/test_plan.py``, and read the diff.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netshaper.disciplines import FIRST_JOB_CLASS, SHARED_CLASS, JobTraffic
from netshaper.ecn.marking import Marking
from netshaper.plan import MAX_JOBS, Command, NetworkPlan, namespace_name, plan_network
from netshaper.shaping import window_bytes
from traces.cluster import Cluster, Link, Port, Sharing, dumbbell

GOLDEN = Path(__file__).parent / "golden"
RUN_ID = "run1"


def traffic(count: int) -> list[JobTraffic]:
    """Jobs that every discipline tells apart."""
    return [JobTraffic(f"job{n}", weight=n + 1, priority=n % 8) for n in range(count)]


def small_plan(
    sharing: Sharing = Sharing.FAIR, jobs: int = 2, connections: int = 4, run_id: str = RUN_ID
) -> NetworkPlan:
    cluster = dumbbell(1, 1, 1e9, 0.5e9, sharing)
    return plan_network(run_id, "n0", cluster, traffic(jobs), 10.0, connections)


def words_of(plan: NetworkPlan, *begin: str) -> list[Command]:
    return [command for command in plan.commands if command.words[: len(begin)] == begin]


def value_after(command: Command, word: str) -> str:
    return command.words[command.words.index(word) + 1]


@st.composite
def plans(draw: st.DrawFn) -> NetworkPlan:
    cluster = dumbbell(
        draw(st.integers(1, 4)),
        draw(st.integers(1, 4)),
        draw(st.floats(1e8, 1e11)),
        draw(st.none() | st.floats(1e8, 1e11)),
        draw(st.sampled_from(Sharing)),
    )
    jobs = traffic(draw(st.integers(1, 5)))
    run_id = draw(st.from_regex(r"\A[a-z0-9]{4,12}\Z"))
    divisor, connections = draw(st.floats(1, 1000)), draw(st.integers(0, 100))
    return plan_network(run_id, "n3", cluster, jobs, divisor, connections)


@pytest.mark.parametrize("sharing", Sharing)
def test_the_commands_are_exactly_these(sharing: Sharing) -> None:
    text = "".join(f"{command}\n" for command in small_plan(sharing).commands)
    file = GOLDEN / f"dumbbell-{sharing}.txt"
    if os.environ.get("REGENERATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text.splitlines() == file.read_text(encoding="utf-8").splitlines()


def test_every_port_has_the_discipline_of_its_link() -> None:
    links = (Link("a", "s", 1e9), Link("b", "s", 1e9, Sharing.FIFO))
    cluster = Cluster(("a", "b"), ("s",), links, Sharing.WEIGHTED)
    plan = plan_network(RUN_ID, "n0", cluster, traffic(2), 10.0, 4)
    shared = {str(port): end.classes.are_shared for port, end in plan.ports.items()}
    assert shared == {"a->s": False, "s->a": False, "b->s": True, "s->b": True}
    filters = [c for c in words_of(plan, "filter", "add") if "dsfield" in c.words]
    assert {(c.namespace, value_after(c, "dev")) for c in filters} == {
        (plan.ports[port].namespace, plan.ports[port].device)
        for port in (Port("a", "s"), Port("s", "a"))
    }


def test_the_same_input_gives_the_same_plan() -> None:
    assert small_plan() == small_plan()


@given(plans())
def test_names_fit_the_kernel_and_carry_the_run(plan: NetworkPlan) -> None:
    for end in plan.ports.values():
        assert len(end.device) <= 15
    for namespace in plan.namespaces.values():
        assert namespace.split("-")[1] == plan.run_id
        assert len(namespace) < 256
    assert len(set(plan.namespaces.values())) == len(plan.namespaces)


@given(plans())
def test_nothing_is_made_or_changed_outside_the_runs_namespaces(plan: NetworkPlan) -> None:
    own = set(plan.namespaces.values())
    for command in plan.commands:
        if command.namespace is not None:
            assert command.namespace in own
        elif command.words[:2] == ("netns", "add"):
            assert set(command.words[2:]) <= own
        else:
            assert command.words[:2] == ("link", "add"), str(command)
            ends = [command.words[n + 1] for n, w in enumerate(command.words) if w == "netns"]
            assert len(ends) == 2
            assert set(ends) <= own


@given(plans())
def test_addresses_and_devices_are_unique(plan: NetworkPlan) -> None:
    ends = list(plan.ports.values())
    assert len({(end.namespace, end.device) for end in ends}) == len(ends)
    addresses = [end.address for end in ends] + [
        plan.addresses.server(server) for server in plan.addresses.cluster.servers
    ]
    assert len(set(addresses)) == len(addresses)
    assert len({end.mac for end in ends}) == len(ends)


@given(plans())
def test_both_directions_of_every_link_are_shaped_to_their_rate(plan: NetworkPlan) -> None:
    roots = words_of(plan, "qdisc", "add", "dev")
    by_port = {(c.namespace, value_after(c, "dev")) for c in roots if "root" in c.words}
    assert by_port == {(end.namespace, end.device) for end in plan.ports.values()}
    for port, end in plan.ports.items():
        assert Port(port.peer, port.node) in plan.ports
        classes = [
            command
            for command in words_of(plan, "class", "add", "dev", end.device)
            if command.namespace == end.namespace
        ]
        shaped = [c for c in classes if value_after(c, "classid") != "1:3"]
        assert {value_after(c, "ceil") for c in shaped} == {f"{end.shape.rate_bps}bit"}
        (root,) = [c for c in classes if value_after(c, "classid") == "1:1"]
        assert value_after(root, "rate") == f"{end.shape.rate_bps}bit"
        assert value_after(root, "burst") == str(end.shape.burst_bytes)
        assert value_after(root, "quantum") == str(end.shape.quantum_bytes)


@given(plans())
def test_guaranteed_rates_never_exceed_the_port(plan: NetworkPlan) -> None:
    for end in plan.ports.values():
        rates = [
            int(value_after(command, "rate").removesuffix("bit"))
            for command in words_of(plan, "class", "add", "dev", end.device)
            if command.namespace == end.namespace
            and value_after(command, "classid") not in ("1:1", "1:2", "1:3")
        ]
        assert len(rates) == len(end.classes.leaves)
        assert sum(rates) <= end.shape.rate_bps


@given(plans())
def test_every_queue_is_limited_to_the_ports_buffer(plan: NetworkPlan) -> None:
    for end in plan.ports.values():
        limits = {
            value_after(command, "limit")
            for command in words_of(plan, "qdisc", "add", "dev", end.device, "parent")
            if command.namespace == end.namespace
        }
        assert limits == {str(end.shape.buffer_bytes)}


@given(st.integers(1, 200), st.floats(1, 1000))
def test_every_buffer_holds_the_windows_of_all_connections(
    connections: int, divisor: float
) -> None:
    plan = plan_network("run1", "n0", dumbbell(2, 2, 5e10, 1e9), traffic(1), divisor, connections)
    window = window_bytes(min(end.shape.rate_bps for end in plan.ports.values()))
    for end in plan.ports.values():
        assert end.shape.buffer_bytes >= connections * window


def test_rates_are_divided_by_the_scale() -> None:
    plan = small_plan()
    assert plan.ports[Port("left0", "switch-left")].shape.rate_bps == 100_000_000
    assert plan.ports[Port("switch-right", "switch-left")].shape.rate_bps == 50_000_000


def _segments(divisor: float, marking: Marking, threshold_bytes: int | None) -> set[str]:
    cluster = dumbbell(1, 1, 1e9, 0.5e9)
    plan = plan_network(
        RUN_ID, "n0", cluster, traffic(2), divisor, 4, threshold_bytes, marking=marking
    )
    ups = [c for c in words_of(plan, "link", "set") if "gso_max_segs" in c.words]
    assert len(ups) == len(plan.ports)
    return {value_after(command, "gso_max_segs") for command in ups}


def test_a_packet_is_what_the_slowest_port_takes() -> None:
    assert _segments(1.0, Marking.MARKER, 80_000) == {"4"}
    assert _segments(1.0, Marking.RED, None) == {"4"}
    assert _segments(2.0, Marking.MARKER, None) == {"1"}


def test_a_red_queue_which_counts_packets_gets_one_for_each_segment() -> None:
    assert _segments(1.0, Marking.RED, 80_000) == {"1"}


def test_a_server_sends_from_its_own_address() -> None:
    plan = small_plan()
    (route,) = [c for c in words_of(plan, "route", "add") if c.namespace.endswith("left0")]  # type: ignore[union-attr]
    assert value_after(route, "src") == plan.addresses.server("left0")


def test_neighbours_are_known_for_good() -> None:
    plan = small_plan()
    macs = {end.address: end.mac for end in plan.ports.values()}
    neighbours = words_of(plan, "neighbour", "add")
    assert len(neighbours) == len(plan.ports)
    for command in neighbours:
        assert value_after(command, "lladdr") == macs[command.words[2]]
        assert "permanent" in command.words


def test_under_fair_sharing_every_job_has_a_class_and_a_codepoint() -> None:
    plan = small_plan(Sharing.FAIR, jobs=3)
    classes = {f"job{n}": FIRST_JOB_CLASS + n for n in range(3)}
    assert all(end.classes.of_job == classes for end in plan.ports.values())
    assert plan.job_dscp == {"job0": 1, "job1": 2, "job2": 3}
    filters = [c for c in words_of(plan, "filter", "add") if "dsfield" in c.words]
    assert len(filters) == 3 * len(plan.ports)
    for command in filters:
        dscp = int(value_after(command, "dsfield"), 16) >> 2
        (job,) = [name for name, number in plan.job_dscp.items() if number == dscp]
        assert value_after(command, "flowid") == f"1:{classes[job]:x}"


def test_under_fifo_all_jobs_share_one_queue() -> None:
    plan = small_plan(Sharing.FIFO, jobs=3)
    for end in plan.ports.values():
        assert set(end.classes.of_job.values()) == {SHARED_CLASS}
    assert not [c for c in words_of(plan, "filter", "add") if "dsfield" in c.words]
    roots = [c for c in words_of(plan, "qdisc", "add") if "root" in c.words]
    assert {value_after(c, "default") for c in roots} == {f"{SHARED_CLASS:x}"}


def test_only_switches_forward() -> None:
    forwarding = {
        command.namespace
        for command in small_plan().commands
        if command.tool == "sysctl" and "net.ipv4.ip_forward=1" in command.words
    }
    assert forwarding == {"roundelay-run1-n0-switch-left", "roundelay-run1-n0-switch-right"}


def test_as_many_jobs_as_codepoints_are_planned_and_one_more_is_refused() -> None:
    plan = small_plan(jobs=MAX_JOBS)
    assert set(plan.job_dscp.values()) == set(range(1, 64))
    with pytest.raises(ValueError, match="64 jobs"):
        small_plan(jobs=MAX_JOBS + 1)


BAD_RUN_IDS = ["", "abc", "a" * 13, "Abcd", "ab-cd", "ab cd", "../ab", "abcd;", "äbcd"]


@pytest.mark.parametrize("run_id", BAD_RUN_IDS)
def test_a_bad_run_id_is_refused(run_id: str) -> None:
    with pytest.raises(ValueError, match="is not a run id"):
        small_plan(run_id=run_id)


@pytest.mark.parametrize("name", [("abcd\n", "n0", "left0"), ("abcd", "n0\n", "left0")])
def test_a_newline_has_no_place_in_a_name(name: tuple[str, str, str]) -> None:
    with pytest.raises(ValueError, match=r"run id|name"):
        namespace_name(*name)


@pytest.mark.parametrize("word", ["", "-a", "A", "a/b", "a b", "a" * 42])
def test_a_bad_part_of_a_namespaces_name_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match="cannot be part"):
        namespace_name(RUN_ID, word, "left0")
    with pytest.raises(ValueError, match="cannot be part"):
        namespace_name(RUN_ID, "n0", word)


def test_a_command_shows_as_it_would_be_typed() -> None:
    assert str(Command("ip", ("netns", "add", "x"))) == "ip netns add x"
    assert str(Command("tc", ("qdisc", "show"), "ns")) == "tc -n ns qdisc show"
    assert str(Command("sysctl", ("-q", "a=1"), "ns")) == "ip netns exec ns sysctl -q a=1"


@given(plans())
def test_no_word_needs_quoting(plan: NetworkPlan) -> None:
    for command in plan.commands:
        for word in command.argv:
            assert re.fullmatch(r"[A-Za-z0-9_.:/=-]+", word), word
