"""What goes over a connection between a loader and its storage server.

The loader says HELLO (DSCP and congestion control of the data that it will get) and learns the
size of the dataset's file; then each REQUEST (offset, bytes) is answered by those bytes, in order.
"""

from __future__ import annotations

import struct

HELLO = struct.Struct("!B16s")
SIZE = struct.Struct("!Q")
REQUEST = struct.Struct("!QQ")
