"""The few eBPF instructions that a marker is made of, and their bytes. Pure.

Encodings: Documentation/bpf/standardization/instruction-set.rst of the Linux kernel, for a
little-endian machine. All arithmetic is 64 bits wide.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

_INSTRUCTION = struct.Struct("<BBhi")
_MASK_32 = 0xFFFF_FFFF
_PSEUDO_MAP_VALUE = 2


class Register(IntEnum):
    """R0 holds results, R1 to R5 arguments (a call ruins them), R6 to R9 what must survive."""

    R0 = 0
    R1 = 1
    R2 = 2
    R3 = 3
    R4 = 4
    R5 = 5
    R6 = 6
    R7 = 7
    R8 = 8
    R9 = 9


class Alu(IntEnum):
    """Operation codes of arithmetic with an immediate; with a register they are 8 more."""

    ADD = 0x07
    SUBTRACT = 0x17
    MULTIPLY = 0x27
    AND = 0x57
    SHIFT_LEFT = 0x67
    SHIFT_RIGHT = 0x77
    MOVE = 0xB7


class Condition(IntEnum):
    """Operation codes of jumps that compare with an immediate; with a register they are 8 more."""

    EQUAL = 0x15
    NOT_EQUAL = 0x55
    LESS = 0xA5
    SIGNED_GREATER = 0x65
    SIGNED_GREATER_OR_EQUAL = 0x75
    SIGNED_LESS_OR_EQUAL = 0xD5


class Opcode(IntEnum):
    """The other operation codes."""

    LOAD_IMMEDIATE_64 = 0x18
    LOAD_PACKET_BYTE = 0x30
    LOAD_32 = 0x61
    LOAD_64 = 0x79
    STORE_64 = 0x7B
    ATOMIC_64 = 0xDB
    JUMP = 0x05
    CALL = 0x85
    EXIT = 0x95


FROM_REGISTER = 0x08
"""Added to a code of Alu or Condition whose second operand is a register."""


@dataclass(frozen=True)
class Instruction:
    """Eight bytes of a program. ``target`` is the label that ``assemble`` turns into an offset."""

    opcode: int
    destination: int = 0
    source: int = 0
    offset: int = 0
    immediate: int = 0
    target: str = ""

    def encode(self) -> bytes:
        """As the kernel reads it. struct.error where a field is out of its range."""
        registers = self.source << 4 | self.destination
        return _INSTRUCTION.pack(self.opcode, registers, self.offset, self.immediate)


@dataclass(frozen=True)
class Label:
    """A place in a program that jumps can name."""

    name: str


def alu(operation: Alu, destination: Register, operand: Register | int) -> Instruction:
    """``destination`` operation= ``operand``; a number is 32 bits wide, and its sign is kept."""
    if isinstance(operand, Register):
        return Instruction(operation | FROM_REGISTER, destination, source=operand)
    return Instruction(operation, destination, immediate=operand)


def jump_if(
    condition: Condition, left: Register, right: Register | int, target: str
) -> Instruction:
    """Go on at ``target`` where ``left`` and ``right`` meet the condition."""
    if isinstance(right, Register):
        return Instruction(condition | FROM_REGISTER, left, source=right, target=target)
    return Instruction(condition, left, immediate=right, target=target)


def jump(target: str) -> Instruction:
    """Go on at ``target``."""
    return Instruction(Opcode.JUMP, target=target)


def load_32(destination: Register, base: Register, offset: int) -> Instruction:
    """``destination`` = the 32 bits at ``base`` + ``offset``, without a sign."""
    return Instruction(Opcode.LOAD_32, destination, base, offset)


def load_64(destination: Register, base: Register, offset: int) -> Instruction:
    """``destination`` = the 64 bits at ``base`` + ``offset``."""
    return Instruction(Opcode.LOAD_64, destination, base, offset)


def store_64(base: Register, offset: int, source: Register) -> Instruction:
    """The 64 bits at ``base`` + ``offset`` = ``source``."""
    return Instruction(Opcode.STORE_64, base, source, offset)


def atomic_add_64(base: Register, offset: int, source: Register) -> Instruction:
    """Add ``source`` to the 64 bits at ``base`` + ``offset``, also when two CPUs do so at once."""
    return Instruction(Opcode.ATOMIC_64, base, source, offset)


def load_packet_byte(position: int) -> Instruction:
    """R0 = the byte at ``position`` of the frame; the program ends with 0 where there is none.

    The context must be in R6; R1 to R5 are ruined.
    """
    return Instruction(Opcode.LOAD_PACKET_BYTE, immediate=position)


def load_immediate(destination: Register, value: int) -> tuple[Instruction, Instruction]:
    """``destination`` = ``value``, of 64 bits; a negative one as its two's complement."""
    low, high = _signed_32(value), _signed_32(value >> 32)
    return Instruction(Opcode.LOAD_IMMEDIATE_64, destination, immediate=low), Instruction(
        0, immediate=high
    )


def load_map_value(
    destination: Register, map_descriptor: int, offset: int = 0
) -> tuple[Instruction, Instruction]:
    """``destination`` = the address ``offset`` bytes into the one value of an array map."""
    first = Instruction(
        Opcode.LOAD_IMMEDIATE_64, destination, _PSEUDO_MAP_VALUE, immediate=map_descriptor
    )
    return first, Instruction(0, immediate=offset)


def call(helper: int) -> Instruction:
    """R0 = what the kernel's ``helper`` function returns for R1 to R5."""
    return Instruction(Opcode.CALL, immediate=helper)


def end() -> Instruction:
    """End the program with R0."""
    return Instruction(Opcode.EXIT)


def assemble(program: Iterable[Instruction | Label]) -> tuple[Instruction, ...]:
    """Leave the labels out and give every jump its offset. KeyError for an unknown label."""
    instructions: list[Instruction] = []
    places: dict[str, int] = {}
    for item in program:
        if isinstance(item, Label):
            places[item.name] = len(instructions)
        else:
            instructions.append(item)
    return tuple(
        dataclasses.replace(each, offset=places[each.target] - index - 1, target="")
        if each.target
        else each
        for index, each in enumerate(instructions)
    )


def encode(instructions: Iterable[Instruction]) -> bytes:
    """The program's bytes."""
    return b"".join(instruction.encode() for instruction in instructions)


def _signed_32(value: int) -> int:
    low = value & _MASK_32
    return low - (1 << 32) if low >> 31 else low
