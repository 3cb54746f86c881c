"""profile network on this machine: options, and what goes wrong before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import profile_network_here
from profiler.network.device_counters import CountedDevice, FoundDevices
from tests.unit.harness.cli.conftest import Roundelay


@pytest.fixture(autouse=True)
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with one device."""
    for name in ("tx_bytes", "rx_bytes"):
        (tmp_path / name).write_text("0\n")
    eth0 = CountedDevice("eth0", tmp_path / "tx_bytes", tmp_path / "rx_bytes")
    found = FoundDevices((eth0,), ())
    monkeypatch.setattr(profile_network_here, "find_devices", lambda: found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--link", "1 Gbit/s", "--", "train"), "--link: is for emulated servers"),
        (("--run-id", "abcd", "--", "train"), "--run-id: is for emulated servers"),
        (("--rootless", "--", "train"), "--rootless: is for emulated servers"),
        (("--hosts", "2", "--device", "eth0", "--", "train"), "--device: is for this machine's"),
        (("--hosts", "2", "--workers", "2", "--", "train"), "--workers: is for this machine's"),
        (("--hosts", "2", "--kineto", "--", "python", "a.py"), "--kineto: is for this machine's"),
        (("--device", "eth1", "--", "train"), "'eth1': no such device is up; allowed: eth0"),
        (("--interval", "10 us", "--", "train"), "--interval: '10 us' is out of range"),
        (("--interval", "fast", "--", "train"), "--interval: 'fast' is not a number"),
        (("--kineto", "--", "./train.sh"), "--kineto: './train.sh' is not python"),
        (("--", "no-such-command"), "no-such-command cannot be run: No such file"),
    ],
)
def test_bad_input_is_one_line(
    roundelay: Roundelay, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    output = tmp_path / "out"
    result = roundelay("profile", "network", "--quiet", "-o", output, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert said in result.stderr
    assert "; allowed: " in result.stderr
    assert not output.exists() or not any(output.iterdir())


def test_a_job_that_sends_nothing_keeps_its_log(roundelay: Roundelay, tmp_path: Path) -> None:
    output = tmp_path / "out"
    result = roundelay("profile", "network", "-o", output, "--", "echo", "done")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no network device sent anything; what was counted is kept in" in result.stderr
    assert (output / "command.log").read_text() == "done\n"
    assert '"problem": "no network device sent anything"' in (output / "summary.json").read_text()
