"""Which of the counted devices make up what the machine sent, so that no byte counts twice. Pure.

Several devices may count the same bytes: a bond, a VLAN or a bridge and what it stands on; a RoCE
port and its Ethernet device, with some drivers; the machine's own end of a container's network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profiler.network.counter_readings import Readings, summed
from profiler.network.device_counters import CountedDevice
from traces.load_series import LoadSeries

_SAME = 0.02
"""Two counters that differ by less, in all that they counted, count the same bytes."""


@dataclass(frozen=True)
class DeviceCount:
    """What one device has carried. left_out: why it is not in the sum; None where it is."""

    device: CountedDevice
    series: LoadSeries
    left_out: str | None

    @property
    def notes(self) -> tuple[str, ...]:
        return self.series.notes

    @property
    def sent_bytes(self) -> float:
        return _total(self.series)[0]

    @property
    def received_bytes(self) -> float:
        return _total(self.series)[1]


def count_devices(
    readings: Readings, devices: Sequence[CountedDevice], *, are_chosen: bool
) -> tuple[DeviceCount, ...]:
    """Every device that carried bytes. are_chosen: by a person, so that all are in the sum."""
    carried = [
        (device, series)
        for index, device in enumerate(devices)
        if (series := readings.series(index, device)) is not None and any(_total(series))
    ]
    return tuple(
        DeviceCount(device, series, None if are_chosen else _left_out(device, carried))
        for device, series in carried
    )


def sum_of(counts: Sequence[DeviceCount]) -> LoadSeries | None:
    """What the machine has sent; None where no device in the sum carried anything."""
    series = [count.series for count in counts if count.left_out is None]
    return summed(series) if series else None


def _left_out(
    device: CountedDevice, carried: Sequence[tuple[CountedDevice, LoadSeries]]
) -> str | None:
    by_name = {other.name: (other, series) for other, series in carried}
    lower = [name for name in device.lower if name in by_name]
    if lower:
        return f"counts again what {', '.join(lower)} counts"
    for port, series in carried:
        if port.netdev == device.name and _are_same(by_name[device.name][1], series):
            return f"counts again what {port.name} counts"
    if not device.is_physical and any(other.is_physical for other, _ in carried):
        return "is not a physical device"
    return None


def _are_same(one: LoadSeries, other: LoadSeries) -> bool:
    return all(
        abs(first - second) <= _SAME * max(first, second)
        for first, second in zip(_total(one), _total(other), strict=True)
    )


def _total(series: LoadSeries) -> tuple[float, float]:
    """Sent and received bytes."""
    received = 0.0 if series.received_bytes is None else float(np.nansum(series.received_bytes))
    return float(np.nansum(series.sent_bytes)), received
