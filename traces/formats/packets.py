"""Packets as capture files hold them, many at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK_BYTES = 2**23
"""What is read of a file at a time."""

MOST_PACKET_BYTES = 2**20
"""Of a packet: more says that a file is damaged. Merged ones (GRO, BIG TCP) have half a MiB."""


@dataclass(frozen=True, eq=False)
class PacketBatch:
    """Packets from one interface, in the order of the file.

    data: uint8, what was read of the file. starts: shape (n), of the captured bytes of each packet
    in it. captured_bytes, original_bytes: shape (n), what of a packet is there, and how long it
    was. time_ns: shape (n), since 1970. link_type: of the interface (LINKTYPE_, tcpdump.org).
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    captured_bytes: NDArray[np.int64]
    original_bytes: NDArray[np.int64]
    time_ns: NDArray[np.int64]
    link_type: int

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True)
class CutShort:
    """The file ends inside a packet, of which so many bytes are there."""

    rest_bytes: int
