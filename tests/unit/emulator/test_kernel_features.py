"""What the kernel is asked for, and how its answers are read."""

from __future__ import annotations

import errno
import socket
import subprocess
from pathlib import Path

import pytest

from emulator import kernel_features
from emulator.kernel_features import (
    CONGESTION_CONTROLS,
    ECN_MARKERS,
    QDISCS,
    congestion_controls,
    failed_lines,
    require_netem,
    traffic_control,
)
from traces.errors import MissingCapabilityError


def test_the_lines_that_failed_are_those_that_tc_names() -> None:
    said = (
        "Error: Specified qdisc kind is unknown.\nCommand failed -:1\n"
        "Error: Specified qdisc kind is unknown.\nCommand failed -:13\n"
    )
    assert failed_lines(said) == {1, 13}
    assert failed_lines("RED: set bandwidth to 10Mbit\n") == set()


@pytest.fixture(autouse=True)
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)


def answering(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    def fake_run(argv: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(argv, 0, stdout="", stderr=said)

    monkeypatch.setattr(subprocess, "run", fake_run)


def test_a_kernel_that_refuses_nothing_has_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "")
    monkeypatch.setattr(kernel_features, "_loads_ebpf", lambda: True)
    assert traffic_control() == dict.fromkeys((*QDISCS, *ECN_MARKERS), True)


@pytest.mark.parametrize("refused", ["clsact", "cls_bpf"])
def test_ebpf_marks_only_where_it_can_be_attached(
    monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    line = list(kernel_features._TC_COMMANDS).index(refused) + 1
    answering(monkeypatch, f"Command failed -:{line}\n")
    monkeypatch.setattr(kernel_features, "_loads_ebpf", lambda: True)
    assert traffic_control() == {
        "red": True, "netem": True, "fq": True, "fq_codel": True, "eBPF": False,
    }  # fmt: skip


def test_who_may_not_make_a_namespace_knows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "unshare: unshare failed: Operation not permitted\n")
    assert traffic_control() is None


def test_only_root_may_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "")
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert traffic_control() is None


def test_without_the_tools_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert traffic_control() is None


def test_a_congestion_control_that_only_root_may_use_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class FakeSocket(socket.socket):
        def setsockopt(self, level: int, option: int, value: object, *_: object) -> None:
            assert (level, option) == (socket.IPPROTO_TCP, socket.TCP_CONGESTION)
            if value == b"dctcp":
                raise OSError(errno.ENOENT, "absent")
            if value == b"bbr":
                raise OSError(errno.EPERM, "not allowed")

    monkeypatch.setattr(socket, "socket", FakeSocket)
    assert congestion_controls() == ("cubic", "reno", "bbr")


def test_this_kernel_answers() -> None:
    assert "reno" in congestion_controls()  # compiled into every kernel
    assert set(congestion_controls()) <= set(CONGESTION_CONTROLS)


def test_latency_is_refused_where_there_is_no_netem(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = dict.fromkeys((*QDISCS, *ECN_MARKERS), True)
    monkeypatch.setattr(kernel_features, "traffic_control", lambda: with_it)
    require_netem()
    monkeypatch.setattr(kernel_features, "traffic_control", lambda: with_it | {"netem": False})
    with pytest.raises(MissingCapabilityError, match="CONFIG_NET_SCH_NETEM"):
        require_netem()
