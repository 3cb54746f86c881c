"""The counters of this machine's network devices: what is there, and where the kernel shows it.

Ethernet: /sys/class/net/DEVICE/statistics (rtnl_link_stats64), in bytes. InfiniBand and RoCE:
/sys/class/infiniband/DEVICE/ports/PORT/counters/port_xmit_data and port_rcv_data, in units of four
octets whatever the number of lanes (perfquery(8)). What RDMA sends bypasses the kernel, so the
Ethernet device of a RoCE port usually counts nothing of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from traces.errors import BadInputError, shown

SYSFS = Path("/sys")

_LOOPBACK = 772  # linux/if_arp.h
_IS_UP = 0x1  # linux/if.h
_RDMA_UNIT_BYTES = 4
_MOST_CHARACTERS = 64


@dataclass(frozen=True)
class CountedDevice:
    """A device, or a port of an RDMA adapter ('mlx5_0/1').

    sent, received: the files of its counters, in units of ``unit_bytes``.
    refresh_s: how long the adapter may show a value again before it looks anew; None if it always
        looks.
    is_physical: there is hardware behind it.
    lower: the devices that it sends through, which count its bytes, too.
    netdev: the Ethernet device of a RoCE port.
    """

    name: str
    sent: Path
    received: Path
    unit_bytes: int = 1
    refresh_s: float | None = None
    is_physical: bool = False
    lower: tuple[str, ...] = ()
    netdev: str | None = None


@dataclass(frozen=True)
class FoundDevices:
    """devices: that are up, in order of their names. unreadable: why others cannot be counted."""

    devices: tuple[CountedDevice, ...]
    unreadable: tuple[tuple[str, str], ...]


def find_devices(sysfs: Path = SYSFS) -> FoundDevices:
    """All devices that are up, without the loopback."""
    devices, unreadable = [], []
    for device in (*_ethernet(sysfs), *_rdma(sysfs)):
        problem = _problem(device)
        if problem is None:
            devices.append(device)
        else:
            unreadable.append((device.name, problem))
    return FoundDevices(tuple(devices), tuple(unreadable))


def choose(found: FoundDevices, names: Sequence[str]) -> tuple[CountedDevice, ...]:
    """The devices with ``names``, all where that is empty; an adapter's name is all its ports.

    Raises BadInputError where there is no such device, or its counters cannot be read.
    """
    if not names:
        if not found.devices:
            raise BadInputError(
                "no network device is up", allowed="a machine with a network", key="--device"
            )
        return found.devices
    chosen: dict[str, CountedDevice] = {}
    for name in names:
        mine = {each.name: each for each in found.devices if _is_named(each.name, name)}
        if not mine:
            why = [text for unreadable, text in found.unreadable if _is_named(unreadable, name)]
            raise BadInputError(
                f"{shown(name)}: {why[0] if why else 'no such device is up'}",
                allowed=", ".join(each.name for each in found.devices) or "none that is here",
                key="--device",
            )
        chosen |= mine
    return tuple(chosen.values())


def _is_named(device: str, name: str) -> bool:
    return name in (device, device.partition("/")[0])


def _ethernet(sysfs: Path) -> Iterator[CountedDevice]:
    for place in _directories(sysfs / "class/net"):
        flags, kind = _text(place / "flags"), _text(place / "type")
        if flags is None or not int(flags, 16) & _IS_UP or kind == str(_LOOPBACK):
            continue
        yield CountedDevice(
            name=place.name,
            sent=place / "statistics/tx_bytes",
            received=place / "statistics/rx_bytes",
            is_physical=(place / "device").exists(),
            lower=tuple(sorted(path.name.removeprefix("lower_") for path in place.glob("lower_*"))),
        )


def _rdma(sysfs: Path) -> Iterator[CountedDevice]:
    for adapter in _directories(sysfs / "class/infiniband"):
        for port in _directories(adapter / "ports"):
            if not (_text(port / "state") or "").endswith("ACTIVE"):
                continue
            yield CountedDevice(
                name=f"{adapter.name}/{port.name}",
                sent=port / "counters/port_xmit_data",
                received=port / "counters/port_rcv_data",
                unit_bytes=_RDMA_UNIT_BYTES,
                refresh_s=_refresh_s(port, adapter),
                is_physical=True,
                netdev=_text(port / "gid_attrs/ndevs/0"),
            )


def _refresh_s(port: Path, adapter: Path) -> float | None:
    """How long the kernel keeps what it has read (rdma_hw_stats.lifespan, in ms)."""
    for place in (port, adapter):
        text = _text(place / "hw_counters/lifespan")
        if text is not None and text.isdecimal():
            return int(text) / 1e3 or None
    return None


def _problem(device: CountedDevice) -> str | None:
    """Why its counters cannot be read, as in 'N/A (no PMA)'; None where they can."""
    for file in (device.sent, device.received):
        try:
            text = file.read_text(errors="replace").strip()
        except OSError as error:
            return f"{file.name} cannot be read: {error.strerror}"
        if not text.isdecimal():
            return f"{file.name} says {shown(text)}"
    return None


def _directories(place: Path) -> list[Path]:
    try:
        return sorted(path for path in place.iterdir() if path.is_dir())
    except OSError:
        return []


def _text(file: Path) -> str | None:
    """What a file of one line says; None where there is nothing to read."""
    try:
        return os.fsdecode(file.read_bytes()[:_MOST_CHARACTERS]).strip() or None
    except OSError:
        return None
