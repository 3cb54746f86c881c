"""Settings under /proc/sys/net: what ``sysctl -w`` does, without a process for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from traces.errors import EmulationError

_SETTINGS = Path("/proc/sys")


def write_settings(values: Mapping[str, str]) -> None:
    """Give each setting (``net.ipv4.ip_forward``) its value and read it back.

    Of the network namespace that the calling thread is in, for that is what /proc/sys/net shows it.
    Raises EmulationError where one does not exist, cannot be written or then holds another value.
    """
    for name, value in values.items():
        file = _SETTINGS.joinpath(*name.split("."))
        try:
            file.write_text(f"{value}\n")
            found = file.read_text().strip()
        except OSError as error:
            raise EmulationError(f"{name}: {error.strerror}") from None
        if found != value:
            raise EmulationError(f"{name}: set to {value}, found {found}")
