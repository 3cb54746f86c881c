"""demand fit: from a file of bytes over time to a profile."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import PcapWriter

from tests.unit.harness.cli.conftest import Roundelay
from traces.demand import demand_curve
from traces.model_profile import read_profile

PERIOD_MS, UP_MS, RATE_BYTES_PER_MS = 100, 30, 125_000


def counter(directory: Path, *, stalled: int | None = None) -> Path:
    """Readings each ms of a job that sends for 30 of 100 ms."""
    sent = np.tile(np.where(np.arange(PERIOD_MS) < UP_MS, RATE_BYTES_PER_MS, 0), 30)
    if stalled is not None:
        sent = np.insert(sent, stalled * PERIOD_MS + 60, np.zeros(80, dtype=int))
    file = directory / "eth0.csv"
    rows = "".join(f"{time},{read}\n" for time, read in enumerate(np.cumsum(sent)))
    file.write_text(f"time_ms,sent_bytes\n{rows}")
    return file


def test_a_counter_becomes_a_profile(roundelay: Roundelay, tmp_path: Path) -> None:
    result = roundelay("demand", "fit", counter(tmp_path), "--workers", 4, "--json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    (pattern,) = document["patterns"]
    assert pattern["period_s"]["value"] == pytest.approx(0.1)
    assert pattern["period_s"]["high"] - pattern["period_s"]["low"] < 1e-9
    assert (pattern["outliers"], document["unfitted"], document["gaps"]) == ([], [], 0)
    profile = read_profile(Path("eth0.demand.json"))
    assert (profile.model, profile.num_gpus) == ("eth0", 4)
    assert profile.provenance == "measured"
    assert profile.measured_iteration_s == pytest.approx(0.1)
    (transfer,) = profile.demand.transfers
    assert transfer.ready_s == pytest.approx(0.07)
    assert transfer.bytes == pytest.approx(UP_MS * RATE_BYTES_PER_MS)
    assert demand_curve(profile.demand, 1e9).period_s == pytest.approx(0.1)
    assert "iterations of 100 ms ± " in result.stderr
    assert "bytes are taken as cumulative" in result.stderr


def test_an_outlier_is_said_and_left_out(roundelay: Roundelay, tmp_path: Path) -> None:
    target = tmp_path / "job.json"
    result = roundelay("demand", "fit", counter(tmp_path, stalled=7), "-o", target)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "outliers, left out: 1" in result.stderr
    assert "iteration 7 at 729 ms: longer (180 ms, 3.75 MB)" in result.stderr
    assert read_profile(target).measured_iteration_s == pytest.approx(0.1)


def test_a_last_phase_slower_than_the_link_is_paced_by_the_sender(
    roundelay: Roundelay, tmp_path: Path
) -> None:
    target = tmp_path / "job.json"
    result = roundelay("demand", "fit", counter(tmp_path), "-o", target, "--link", "10 Gbit/s")
    assert result.exit_code == 0
    assert read_profile(target).demand.compute_s == pytest.approx(0.1)


def test_packets_become_a_profile(roundelay: Roundelay, tmp_path: Path) -> None:
    file = tmp_path / "worker.pcap"
    frame = Ether(dst="02:00:00:00:00:02", src="02:00:00:00:00:01")
    data = bytes(frame / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(dport=4791) / Raw(bytes(958)))
    with PcapWriter(str(file), nano=True, linktype=1) as writer:
        writer.write_header(None)
        for time_us in range(0, 600_000, 100):
            if time_us % 20_000 < 5_000:
                writer.write_packet(data, sec=1, usec=time_us * 1000 + 1)
    result = roundelay(
        "demand", "fit", file, "--from", "10.0.0.1", "--interval", "500 us", "--json"
    )
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    (pattern,) = document["patterns"]
    assert pattern["period_s"]["value"] == pytest.approx(0.02)
    assert pattern["phases"][0]["bytes"]["value"] == pytest.approx(50 * 1000)
    assert document["profile"]["source"].endswith("bytes that 10.0.0.1 sent")


@pytest.mark.parametrize(
    ("text", "arguments", "said"),
    [
        ("time_s,sent_bytes\n0,0\n1,0\n2,0\n", (), "nothing was sent"),
        ("time_s,sent_bytes\n0,0\n1,5\n2,6\n", (), "nothing repeats"),
        ("time_s,sent_bytes\n0,0\n1,5\n", ("--from", "10.0.0.1"), "--from: is no capture"),
        ("time_s,sent_bytes\n0,0\n1,5\n", ("--interval", "0 s"), "--interval: '0 s'"),
        ("time_s,sent_bytes\n0,0\n1,5\n", ("--link", "5"), "--link: '5'"),
        ("", (), "load.csv: there is no row"),
    ],
)
def test_bad_input_is_one_line(
    roundelay: Roundelay, tmp_path: Path, text: str, arguments: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "load.csv"
    file.write_text(text)
    result = roundelay("demand", "fit", file, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert "; allowed: " in result.stderr
    assert not Path("load.demand.json").exists()
