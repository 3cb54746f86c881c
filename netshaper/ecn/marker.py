"""The program that marks packets at a port, as data, and the layout of what it counts. Pure.

It runs for every IPv4 packet that leaves a device, before the packet is queued, and keeps a virtual
queue of the port (see virtual_queue). The packet is marked where the queue that it finds, without
itself, is longer than the threshold, as a switch marks on arrival (DCTCP, SIGCOMM'10).

One queue and one threshold for the whole port, as a switch has for a traffic class; counts by DSCP,
which is a job's. Everything is counted in segments (``gso_segs``), as the IP layer of a receiver
counts them.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from enum import IntEnum

from netshaper.ecn.assembler import (
    Alu,
    Condition,
    Instruction,
    Label,
    Register,
    alu,
    assemble,
    atomic_add_64,
    call,
    end,
    jump,
    jump_if,
    load_32,
    load_64,
    load_immediate,
    load_map_value,
    load_packet_byte,
    store_64,
)
from netshaper.ecn.virtual_queue import PRICE_SHIFT, TIME_SHIFT, MarkerSettings

DSCP_COUNT = 64
ETHERNET_HEADER_BYTES = 14
TOS_POSITION = ETHERNET_HEADER_BYTES + 1
CONGESTION_EXPERIENCED = 0b11
GO_ON = -1
"""TC_ACT_UNSPEC: the packet takes its way as if there were no program."""


class Helper(IntEnum):
    """Functions of the kernel (include/uapi/linux/bpf.h)."""

    KTIME_GET_NS = 5
    SKB_ECN_SET_CE = 97


class Context(IntEnum):
    """Offsets in struct __sk_buff (include/uapi/linux/bpf.h)."""

    LEN = 0
    WIRE_LEN = 160
    GSO_SEGS = 164


class Counter(IntEnum):
    """Places of a DSCP's counters in its row."""

    PACKETS = 0
    MARKED = 8
    ARRIVED_MARKED = 16
    NOT_MARKABLE = 24


QUEUE_END_OFFSET = 0
COUNTERS_OFFSET = 8
_ROW = struct.Struct("=4Q")
_ROW_SHIFT = 5  # a row is 32 bytes
VALUE_BYTES = COUNTERS_OFFSET + DSCP_COUNT * _ROW.size
"""The map's one value: the time ``t`` at which the queue ends, then a row of counters a DSCP."""


@dataclass(frozen=True)
class MarkCounts:
    """What a port has seen of one DSCP, in packets on the wire.

    packets: all that came to the queue. The other three found it above the threshold:
    marked: were marked here.
    arrived_marked: a port before had marked them. (A ``red`` queue counts these as marked, too.)
    not_markable: their sender does not take part in ECN; a switch that marks lets them pass.
    """

    packets: int
    marked: int
    arrived_marked: int
    not_markable: int


def decode_counts(value: bytes) -> tuple[MarkCounts, ...]:
    """Counts of every DSCP, from the map's value."""
    rows = itertools.islice(_ROW.iter_unpack(value[COUNTERS_OFFSET:VALUE_BYTES]), DSCP_COUNT)
    return tuple(MarkCounts(*row) for row in rows)


def marker_program(settings: MarkerSettings, map_descriptor: int) -> tuple[Instruction, ...]:
    """The marker of one port, which keeps its state in the map ``map_descriptor``."""
    return assemble(
        (
            alu(Alu.MOVE, Register.R6, Register.R1),
            *_pass_beside(settings),
            load_packet_byte(TOS_POSITION),
            alu(Alu.MOVE, Register.R8, Register.R0),
            *load_map_value(Register.R9, map_descriptor, QUEUE_END_OFFSET),
            *_queue_found(settings),
            *_join_queue(settings),
            *_count(),
            *_mark(settings),
            Label("pass"),
            alu(Alu.MOVE, Register.R0, GO_ON),
            end(),
        )
    )


def _pass_beside(settings: MarkerSettings) -> tuple[Instruction, ...]:
    if not settings.unshaped_below_bytes:
        return ()
    least = settings.unshaped_below_bytes + ETHERNET_HEADER_BYTES
    return (
        load_32(Register.R0, Register.R6, Context.LEN),
        jump_if(Condition.LESS, Register.R0, least, "pass"),
    )


def _queue_found(settings: MarkerSettings) -> tuple[Instruction | Label, ...]:
    """R2 = t - now, the time that the queue still takes; not below minus a full bucket."""
    return (
        call(Helper.KTIME_GET_NS),
        alu(Alu.MOVE, Register.R7, Register.R0),
        alu(Alu.SHIFT_LEFT, Register.R7, TIME_SHIFT),
        load_64(Register.R1, Register.R9, 0),
        alu(Alu.MOVE, Register.R2, Register.R1),
        alu(Alu.SUBTRACT, Register.R2, Register.R7),
        *load_immediate(Register.R3, -settings.time_of(settings.burst_bytes)),
        # A new map holds zero, which long after the machine's start would be a time to come.
        jump_if(Condition.EQUAL, Register.R1, 0, "idle"),
        jump_if(Condition.SIGNED_GREATER_OR_EQUAL, Register.R2, Register.R3, "busy"),
        Label("idle"),
        alu(Alu.MOVE, Register.R2, Register.R3),
        alu(Alu.ADD, Register.R7, Register.R3),
        store_64(Register.R9, 0, Register.R7),
        Label("busy"),
    )


def _join_queue(settings: MarkerSettings) -> tuple[Instruction | Label, ...]:
    """Move t on by the packet's time, unless the port's buffer has no room for it.

    Atomically: two CPUs may send through one port at once.
    """
    return (
        load_32(Register.R1, Register.R6, Context.WIRE_LEN),
        *load_immediate(Register.R3, settings.byte_price),
        alu(Alu.MULTIPLY, Register.R1, Register.R3),
        alu(Alu.SHIFT_RIGHT, Register.R1, PRICE_SHIFT - TIME_SHIFT),
        alu(Alu.MOVE, Register.R3, Register.R2),
        alu(Alu.ADD, Register.R3, Register.R1),
        *load_immediate(Register.R4, settings.time_of(settings.buffer_bytes)),
        jump_if(Condition.SIGNED_GREATER, Register.R3, Register.R4, "no room"),
        atomic_add_64(Register.R9, 0, Register.R1),
        Label("no room"),
    )


def _count() -> tuple[Instruction | Label, ...]:
    """R7 = segments of the packet; R9 = the row of its DSCP; R8 keeps its TOS byte."""
    return (
        load_32(Register.R7, Register.R6, Context.GSO_SEGS),
        jump_if(Condition.NOT_EQUAL, Register.R7, 0, "segmented"),
        alu(Alu.MOVE, Register.R7, 1),
        Label("segmented"),
        alu(Alu.MOVE, Register.R1, Register.R8),
        alu(Alu.SHIFT_RIGHT, Register.R1, 2),
        alu(Alu.AND, Register.R1, DSCP_COUNT - 1),
        alu(Alu.SHIFT_LEFT, Register.R1, _ROW_SHIFT),
        alu(Alu.ADD, Register.R9, Register.R1),
        atomic_add_64(Register.R9, COUNTERS_OFFSET + Counter.PACKETS, Register.R7),
    )


def _mark(settings: MarkerSettings) -> tuple[Instruction | Label, ...]:
    """The kernel's helper says yes to a packet that carries the mark already, so ask before."""
    return (
        *load_immediate(Register.R3, settings.time_of(settings.threshold_bytes)),
        jump_if(Condition.SIGNED_LESS_OR_EQUAL, Register.R2, Register.R3, "pass"),
        alu(Alu.AND, Register.R8, CONGESTION_EXPERIENCED),
        jump_if(Condition.EQUAL, Register.R8, CONGESTION_EXPERIENCED, "arrived marked"),
        alu(Alu.MOVE, Register.R1, Register.R6),
        call(Helper.SKB_ECN_SET_CE),
        jump_if(Condition.EQUAL, Register.R0, 0, "not markable"),
        atomic_add_64(Register.R9, COUNTERS_OFFSET + Counter.MARKED, Register.R7),
        jump("pass"),
        Label("arrived marked"),
        atomic_add_64(Register.R9, COUNTERS_OFFSET + Counter.ARRIVED_MARKED, Register.R7),
        jump("pass"),
        Label("not markable"),
        atomic_add_64(Register.R9, COUNTERS_OFFSET + Counter.NOT_MARKABLE, Register.R7),
    )
