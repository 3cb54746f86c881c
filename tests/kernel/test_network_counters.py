"""What a command sends, as the counters of this machine's devices tell it: real ones, of a veth."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kernel.command import ROUNDELAY, wait_until
from tests.kernel.two_machines import DEVICE, Machines, on, two_machines
from tests.kernel.undisturbed import on_an_undisturbed_box

PERIOD_S = 0.1
UP_S = 0.03
DATAGRAMS = 300
PAYLOAD_BYTES = 1400
SENT_BYTES = DATAGRAMS * (PAYLOAD_BYTES + 8 + 20 + 14)
"""In an iteration, with the headers of UDP, IP and Ethernet."""

ITERATIONS = 20

# It sends at an even rate for UP_S. A real-time process is not held up by others.
JOB = f"""
import socket, sys, time
from emulator.iterations import iteration_done
from emulator.wake import sleep_until, wake_promptly
wake_promptly()
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect((sys.argv[1], int(sys.argv[2])))
begin_s = time.monotonic()
for iteration in range(int(sys.argv[3])):
    start_s = begin_s + iteration * {PERIOD_S}
    for datagram in range({DATAGRAMS}):
        sleep_until(start_s + {UP_S} * datagram / {DATAGRAMS})
        sender.send(bytes({PAYLOAD_BYTES}))
    sleep_until(start_s + {PERIOD_S})
    if sys.argv[4] == "tell":
        iteration_done()
"""


@pytest.fixture
def machines() -> Iterator[Machines]:
    with two_machines() as made:
        yield made


def words(
    machines: Machines, output: Path, *command: str, options: tuple[str, ...] = ()
) -> list[str]:
    """``roundelay profile network`` on the first of the two machines."""
    return [
        *on(machines.one), str(ROUNDELAY), "profile", "network", "--json",
        "--iterations", str(ITERATIONS), "-o", str(output), *options, "--", *command,
    ]  # fmt: skip


def job(directory: Path, machines: Machines, iterations: int, tells: str) -> tuple[str, ...]:
    file = directory / "train.py"
    file.write_text(JOB)
    to = (machines.other_address, str(machines.port))
    return (sys.executable, str(file), *to, str(iterations), tells)


def profiled(
    machines: Machines, output: Path, *command: str, options: tuple[str, ...] = ()
) -> dict[str, Any]:
    done = subprocess.run(
        words(machines, output, *command, options=options),
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check_demand(found: dict[str, Any]) -> None:
    (transfer,) = found["profile"]["demand"]["transfers"]
    assert transfer["bytes"] == pytest.approx(SENT_BYTES, rel=0.01)
    assert transfer["ready_s"] == pytest.approx(PERIOD_S - UP_S, rel=0.03)
    (pattern,) = found["patterns"]
    assert pattern["period_s"]["value"] == pytest.approx(PERIOD_S, rel=0.01)


def sent_so_far(machines: Machines) -> int:
    done = subprocess.run(
        ("ip", "-n", machines.one, "-j", "-s", "link", "show", DEVICE),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(json.loads(done.stdout)[0]["stats64"]["tx"]["bytes"])


def running_in(group: int) -> list[str]:
    """Processes of a group, without those that have ended."""
    lines = subprocess.run(
        ("ps", "-eo", "pgid=,stat=,args="), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    found = [line.split(maxsplit=2) for line in lines]
    return [args for pgid, state, args in found if int(pgid) == group and state[0] != "Z"]


def test_counters_say_what_a_job_sends_and_when(machines: Machines, tmp_path: Path) -> None:
    def check() -> None:
        output = tmp_path / str(time.monotonic_ns())
        found = profiled(machines, output, *job(tmp_path, machines, 1000, "tell"))
        check_demand(found)
        assert abs(found["period_error"]) < 0.01
        assert found["timer_s"]["value"] == pytest.approx(PERIOD_S, rel=0.01)
        assert found["marked_bytes"]["value"] == pytest.approx(SENT_BYTES, rel=0.01)
        assert found["begins_after_mark_s"] == pytest.approx(UP_S, abs=0.003)
        assert [each["device"] for each in found["devices"]] == ["eth0"]
        assert found["sampling"]["rate_hz"] == pytest.approx(1000, rel=0.05)
        assert (output / "iterations.csv").read_text().count("\n") == 1 + 1 + ITERATIONS
        assert json.loads((output / "profile.json").read_text()) == found["profile"]

    on_an_undisturbed_box(check)


def test_without_a_word_from_the_job_the_fit_stands_alone(
    machines: Machines, tmp_path: Path
) -> None:
    def check() -> None:
        output = tmp_path / str(time.monotonic_ns())
        command = job(tmp_path, machines, 30, "say nothing")
        found = profiled(machines, output, *command, options=("--device", "eth0"))
        check_demand(found)
        assert found["timer_s"] is None
        assert found["command"]["status"] == 0
        assert found["devices"][0]["sent_bytes"] == pytest.approx(30 * SENT_BYTES, rel=0.01)
        refit = tmp_path / "refit.json"
        fitted = subprocess.run(
            (str(ROUNDELAY), "demand", "fit", str(output / "eth0.csv"), "-o", str(refit)),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert fitted.returncode == 0, fitted.stderr
        (transfer,) = json.loads(refit.read_text())["demand"]["transfers"]
        assert transfer["bytes"] == pytest.approx(SENT_BYTES, rel=0.01)

    on_an_undisturbed_box(check)


def test_an_interrupt_keeps_what_was_counted_and_ends_the_job(
    machines: Machines, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    said = tmp_path / "said"
    command = job(tmp_path, machines, 10_000, "tell")
    shell = ("sh", "-c", f'echo $$ > {said}; "$@" & wait', "sh", *command)
    running = subprocess.Popen(
        words(machines, output, *shell, options=("--iterations", "9000")),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: sent_so_far(machines) > 2 * SENT_BYTES, "the job")
    session = int(said.read_text())
    running.send_signal(signal.SIGINT)
    printed, errors = running.communicate(timeout=60)
    assert running.returncode == 130, errors
    found = json.loads(printed)
    assert found["interrupted"] is True
    assert found["devices"][0]["sent_bytes"] > 0
    assert (output / "eth0.csv").is_file()
    assert running_in(session) == []


def test_what_a_job_leaves_behind_is_ended(machines: Machines, tmp_path: Path) -> None:
    said = tmp_path / "said"
    command = ("sh", "-c", f"echo $$ > {said}; sleep 1000 & setsid sleep 1001 & sleep 2")
    done = subprocess.run(
        words(machines, tmp_path / "out", *command), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr  # nothing repeats
    assert running_in(int(said.read_text())) == []
    everything = subprocess.run(("ps", "-eo", "args="), capture_output=True, text=True, check=True)
    assert "sleep 1001" not in everything.stdout.splitlines()


def test_a_job_that_fails_is_an_error_with_its_last_words(
    machines: Machines, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    command = ("sh", "-c", "echo no such dataset; exit 3")
    done = subprocess.run(
        words(machines, output, *command), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "the command ended with status 3; it last wrote: no such dataset" in done.stderr
    assert (output / "command.log").read_text() == "no such dataset\n"
