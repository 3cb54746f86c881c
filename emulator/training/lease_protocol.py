"""The lease protocol between workers and the controller: gRPC methods that carry JSON.

A worker registers, extends its lease at the end of every round, and ends it. Each call is answered
when the controller knows what comes next; so all workers stand still while it decides. (Synergy,
OSDI 2022, section 4: leases.)
"""

from __future__ import annotations

import json

from emulator.messages import Message

SERVICE = "roundelay.Leases"
REGISTER = "Register"
EXTEND = "Extend"
END = "End"
METHODS = (REGISTER, EXTEND, END)

MAX_MESSAGE_BYTES = 16 * 2**20
OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # Unix sockets only: no proxy has a say.
    ("grpc.enable_http_proxy", 0),
)

# Register: {job, rank}. Extend: {job, rank, report}. End: {job, rank, report, finished_s | null}.
# The reply to Register and Extend is one of
#   {do: run, resume_s, pause_s}            on the monotonic clock of the box
#   {do: change, pipeline, share, ...run}   with other CPUs or memory
#   {do: end}
# and to End is {}.


def method_path(method: str) -> str:
    """The path of a method as gRPC spells it."""
    return f"/{SERVICE}/{method}"


def encode(message: Message) -> bytes:
    """As it goes over the socket."""
    return json.dumps(message, separators=(",", ":")).encode()


def decode(data: bytes) -> Message:
    """ValueError where ``data`` is not JSON, TypeError where that is not an object."""
    message = json.loads(data)
    if not isinstance(message, dict):
        raise TypeError("a message of the lease protocol is not an object")
    return message
