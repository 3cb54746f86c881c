"""Runs the bytes of a marker as the kernel would, on a packet, a clock and a map given by a test.

Written from the instruction set, not from the assembler, so that a wrong code shows.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

_CONTEXT, _MAP = 1 << 40, 2 << 40
_MASK = (1 << 64) - 1
_STEPS = 1000
_TOS = 15


@dataclass
class Packet:
    """An IPv4 frame: what of it a program can see. ``wire_bytes`` counts all its segments."""

    wire_bytes: int
    tos: int
    segments: int = 0

    @property
    def context(self) -> bytes:
        """struct __sk_buff, where the program may look; a look elsewhere finds nonsense."""
        fields = bytearray(b"\xa5" * 192)
        for offset, value in ((0, self.wire_bytes), (160, self.wire_bytes), (164, self.segments)):
            struct.pack_into("<I", fields, offset, value)
        return bytes(fields)


@dataclass
class Machine:
    """A kernel with one map of one value, and a clock that stands still during a run."""

    value: bytearray
    now_ns: int = 0
    registers: list[int | None] = field(default_factory=list)

    def run(self, code: bytes, packet: Packet) -> int:
        """Run ``code`` for ``packet``, whose ECN bits it may set; what it returns, signed."""
        context = packet.context
        self.registers = [None] * 11
        self.registers[1] = _CONTEXT
        place = 0
        for _ in range(_STEPS):
            opcode, numbers, offset, immediate = struct.unpack_from("<BBhi", code, 8 * place)
            destination, source = numbers & 0xF, numbers >> 4
            place += 1
            if opcode == 0x95:  # exit
                return _signed(self._get(0))
            if opcode == 0x18:  # a 64-bit immediate, or the address of the map's value
                (high,) = struct.unpack_from("<i", code, 8 * place + 4)
                low = immediate & 0xFFFFFFFF
                wide = _MAP + high if source == 2 else (high << 32 | low) & _MASK
                self.registers[destination] = wide
                place += 1
            elif opcode == 0x30:  # a byte of the packet
                assert self._get(6) == _CONTEXT
                assert immediate == _TOS
                self._forget(packet.tos)
            elif opcode == 0x85:  # a call
                self._forget(self._helper(immediate, packet))
            elif opcode in (0x61, 0x79):  # loads of 32 and 64 bits
                at = self._get(source) + offset
                self.registers[destination] = self._load(at, 4 if opcode == 0x61 else 8, context)
            elif opcode == 0x7B:  # a store
                self._store(self._get(destination) + offset, self._get(source))
            elif opcode == 0xDB:  # an atomic addition
                assert immediate == 0
                at = self._get(destination) + offset
                self._store(at, self._load(at, 8, context) + self._get(source))
            elif opcode & 7 == 7:  # 64-bit arithmetic
                right = self._get(source) if opcode & 8 else immediate & _MASK
                left = 0 if opcode & 0xF0 == 0xB0 else self._get(destination)
                self.registers[destination] = _arithmetic(opcode & 0xF0, left, right)
            elif opcode & 7 == 5:  # 64-bit jumps
                right = self._get(source) if opcode & 8 else immediate & _MASK
                left = 0 if opcode == 0x05 else self._get(destination)
                if _holds(opcode & 0xF0, left, right):
                    place += offset
            else:
                raise AssertionError(f"the machine does not know {opcode:#x}")
        raise AssertionError("the program does not end")

    def _get(self, number: int) -> int:
        value = self.registers[number]
        assert value is not None, f"R{number} holds nothing"
        return value

    def _forget(self, result: int) -> None:
        self.registers[:6] = [result, None, None, None, None, None]

    def _load(self, address: int, size: int, context: bytes) -> int:
        base, memory = (_MAP, bytes(self.value)) if address >= _MAP else (_CONTEXT, context)
        assert 0 <= address - base <= len(memory) - size
        return int.from_bytes(memory[address - base : address - base + size], "little")

    def _store(self, address: int, number: int) -> None:
        assert 0 <= address - _MAP <= len(self.value) - 8
        struct.pack_into("<Q", self.value, address - _MAP, number & _MASK)

    def _helper(self, number: int, packet: Packet) -> int:
        if number == 5:
            return self.now_ns
        assert number == 97
        assert self._get(1) == _CONTEXT
        if packet.tos & 3 == 0:
            return 0
        packet.tos |= 3
        return 1


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _arithmetic(operation: int, left: int, right: int) -> int:
    results = {
        0x00: left + right,
        0x10: left - right,
        0x20: left * right,
        0x50: left & right,
        0x60: left << (right & 63),
        0x70: left >> (right & 63),
        0xB0: right,
    }
    return results[operation] & _MASK


def _holds(condition: int, left: int, right: int) -> bool:
    return {
        0x00: True,
        0x10: left == right,
        0x50: left != right,
        0xA0: left < right,
        0x60: _signed(left) > _signed(right),
        0x70: _signed(left) >= _signed(right),
        0xD0: _signed(left) <= _signed(right),
    }[condition]
