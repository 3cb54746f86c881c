"""What a refusal of the kernel means, and what the filter says of its marker."""

from __future__ import annotations

import errno
import os
import platform

import pytest

from netshaper.ecn import bpf_calls
from netshaper.ecn.loader import attach_marker, filter_name
from netshaper.ecn.virtual_queue import MarkerSettings
from traces.errors import EmulationError, MissingCapabilityError

SETTINGS = MarkerSettings(10**9, 80_000, 12_500, 10**6, 64)


def refuse(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def create_array(name: str, value_bytes: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(bpf_calls, "create_array", create_array)


@pytest.mark.parametrize(
    ("number", "lacking", "remedy"),
    [
        (errno.EPERM, "may not load BPF programs", "as root"),
        (errno.ENOSYS, "no bpf system call", "CONFIG_BPF_SYSCALL"),
    ],
)
def test_what_is_lacking_comes_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, number: int, lacking: str, remedy: str
) -> None:
    refuse(monkeypatch, number)
    with pytest.raises(MissingCapabilityError, match=lacking) as raised:
        attach_marker("none", "eth0", SETTINGS)
    assert remedy in raised.value.remedy


def test_another_error_is_no_lack_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, errno.ENOMEM)
    with pytest.raises(EmulationError, match="Cannot allocate memory"):
        attach_marker("none", "eth0", SETTINGS)


def test_a_machine_whose_call_number_is_not_known_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(MissingCapabilityError, match="riscv64"):
        attach_marker("none", "eth0", SETTINGS)


def test_the_filter_names_every_setting() -> None:
    name = filter_name(SETTINGS)
    assert name == (
        "roundelay_ecn rate 1000000000bit threshold 80000 burst 12500 limit 1000000 "
        "unshaped_below 64"
    )
    assert len(name) < 256  # CLS_BPF_NAME_LEN
