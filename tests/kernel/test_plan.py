"""The plan is what a run does, word for word, and a person can do it by hand."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from emulator.networks import plan_arm
from harness.experiments.run import scale_of
from netshaper.apply import build, remove_namespaces
from netshaper.netlink import NetlinkSocket
from netshaper.readback import check_network
from tests.kernel.command import roundelay, short_example
from traces.cluster import Port
from traces.errors import EmulationError
from traces.scenario import load_scenario

RUN_ID = "t3stplan"


def _planned(scenario: Path, *options: str) -> list[str]:
    done = roundelay("plan", scenario, "--run-id", RUN_ID, *options)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if not line.startswith("#")]


def _recorder(directory: Path, tool: str, log: Path) -> None:
    """A stand-in for ``tool`` on PATH that writes down what it is told and then does it."""
    ip, real = (shutil.which(name) for name in ("ip", tool))
    script = directory / tool
    script.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        "  *-batch*)\n"
        f'    inside=$({ip} netns identify $$); prefix="{tool}${{inside:+ -n $inside}}"\n'
        f"    batch=$(mktemp -p {directory})\n"
        f'    sed "s/^/$prefix /" | tee $batch | sed "s/^$prefix //" | {real} "$@"; rc=$?\n'
        # All at once: batches in other namespaces write their lines, too.
        f"    cat $batch >> {log}; exit $rc ;;\n"
        f'  *) echo "{tool} $*" >> {log}; exec {real} "$@" ;;\n'
        "esac\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


def _namespace_of(line: str) -> str:
    words = line.split()
    return words[2] if words[1] == "-n" else ""


def test_a_run_executes_exactly_the_planned_commands(tmp_path: Path) -> None:
    scenario = short_example(tmp_path, iterations=2)
    log = tmp_path / "executed.txt"
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("ip", "tc"):
        _recorder(tools, tool, log)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    output = tmp_path / "out"
    done = roundelay("emulate", scenario, "-o", output, "--run-id", RUN_ID, environment=environment)
    assert done.returncode == 0, done.stderr
    housekeeping = ("ip netns list", "ip netns delete", "ip -V")
    executed = [line for line in log.read_text().splitlines() if not line.startswith(housekeeping)]
    planned = [line for line in _planned(scenario) if not line.startswith("ip netns exec")]
    # Namespaces have their turns at once; each has its own in order, and so has what is outside.
    for namespace in {_namespace_of(line) for line in planned}:
        assert [line for line in executed if _namespace_of(line) == namespace] == [
            line for line in planned if _namespace_of(line) == namespace
        ]
    assert len(executed) == len(planned)


def test_every_namespace_has_the_planned_settings(tmp_path: Path) -> None:
    scenario = load_scenario(short_example(tmp_path))
    plan = plan_arm(scenario.arms[1], scale_of(scenario), RUN_ID)[0].plan
    planned = [command for command in plan.commands if command.tool == "sysctl"]
    assert {command.namespace for command in planned} == set(plan.namespaces.values())
    try:
        build(plan)
        for command in planned:
            for word in command.words[2:]:
                name, _, value = word.partition("=")
                read = ("ip", "netns", "exec", str(command.namespace), "sysctl", "-n", name)
                done = subprocess.run(read, capture_output=True, text=True, check=True)
                assert done.stdout.strip() == value, str(command)
    finally:
        remove_namespaces(plan.namespaces.values())


def test_the_plan_works_by_hand(tmp_path: Path) -> None:
    file = short_example(tmp_path)
    script = "\n".join(_planned(file, "--arm", "together"))
    scenario = load_scenario(file)
    together = next(arm for arm in scenario.arms if arm.name == "together")
    networks = plan_arm(together, scale_of(scenario), RUN_ID, first_network=2)
    plan = networks[0].plan
    try:
        subprocess.run(("sh", "-e"), input=script, text=True, check=True)
        check_network(plan)
    finally:
        remove_namespaces(plan.namespaces.values())


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        (("rate", "1mbit", "ceil", "1mbit"), "rate (bytes/s)"),
        (("burst", "100000", "cburst", "100000"), "burst (bytes)"),
        (("quantum", "9000"), "quantum (bytes)"),
    ],
)
def test_a_setting_that_the_kernel_does_not_hold_is_an_error(
    tmp_path: Path, changed: tuple[str, ...], shown: str
) -> None:
    scenario = load_scenario(short_example(tmp_path))
    together = next(arm for arm in scenario.arms if arm.name == "together")
    plan = plan_arm(together, scale_of(scenario), RUN_ID)[0].plan
    script = "\n".join(str(command) for command in plan.commands)
    try:
        subprocess.run(("sh", "-e"), input=script, text=True, check=True)
        end = next(iter(plan.ports.values()))
        rate = ("rate", f"{end.shape.rate_bps // 2}bit", "ceil", f"{end.shape.rate_bps}bit")
        sizes = ("burst", str(end.shape.burst_bytes), "cburst", str(end.shape.burst_bytes))
        settings = dict(zip(*[iter((*rate, *sizes, "quantum", "1514"))] * 2, strict=True))
        settings.update(zip(*[iter(changed)] * 2, strict=True))
        words = [word for pair in settings.items() for word in pair]
        place = ("dev", end.device, "parent", "1:1", "classid", "1:10", "htb")
        tc = ("tc", "-n", end.namespace, "class", "change", *place, *words)
        subprocess.run(tc, check=True)
        with pytest.raises(EmulationError, match=r"planned .*, found") as raised:
            check_network(plan)
        assert shown in str(raised.value)
    finally:
        remove_namespaces(plan.namespaces.values())


def test_counters_see_what_is_sent(tmp_path: Path) -> None:
    scenario = load_scenario(short_example(tmp_path))
    plan = plan_arm(scenario.arms[1], scale_of(scenario), RUN_ID)[0].plan
    script = "\n".join(str(command) for command in plan.commands)
    try:
        subprocess.run(("sh", "-e"), input=script, text=True, check=True)
        namespace = plan.namespaces["left0"]
        far = plan.addresses.server("right0")
        reader = NetlinkSocket(namespace)
        index = reader.links()["eth0"].index
        dscp = plan.job_dscp["vgg19-b"]
        send = (
            "import socket;s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);"
            f"s.setsockopt(0,socket.IP_TOS,{dscp << 2});"
            f"[s.sendto(bytes(1000),('{far}',9)) for _ in range(10)]"
        )
        subprocess.run(("ip", "netns", "exec", namespace, "python3", "-c", send), check=True)
        counters = reader.classes(index)
        classes = plan.ports[Port("left0", "switch-left")].classes.of_job
        assert counters[classes["vgg19-b"]].sent_bytes == 10 * (1000 + 8 + 20 + 14)
        assert counters[classes["vgg19-a"]].sent_bytes == 0
        far_reader = NetlinkSocket(plan.namespaces["right0"])
        assert far_reader.links()["eth0"].received_packets == 10
    finally:
        remove_namespaces(plan.namespaces.values())
