"""Instructions against their bytes, as the kernel's document and ``llvm-objdump`` spell them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    encode,
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

R0, R1, R2, R6, R9 = (Register(number) for number in (0, 1, 2, 6, 9))

KNOWN = [
    (alu(Alu.MOVE, R6, R1), "bf16000000000000"),  # r6 = r1
    (alu(Alu.MOVE, R0, -1), "b7000000ffffffff"),  # r0 = -1
    (alu(Alu.ADD, R1, 8), "0701000008000000"),  # r1 += 8
    (alu(Alu.ADD, R1, R2), "0f21000000000000"),  # r1 += r2
    (alu(Alu.SUBTRACT, R1, R2), "1f21000000000000"),  # r1 -= r2
    (alu(Alu.MULTIPLY, R1, R2), "2f21000000000000"),  # r1 *= r2
    (alu(Alu.AND, R2, 63), "570200003f000000"),  # r2 &= 63
    (alu(Alu.SHIFT_LEFT, R2, 5), "6702000005000000"),  # r2 <<= 5
    (alu(Alu.SHIFT_RIGHT, R2, 2), "7702000002000000"),  # r2 >>= 2
    (load_32(R1, R6, 160), "6161a00000000000"),  # r1 = *(u32 *)(r6 + 160)
    (load_64(R1, R9, 0), "7991000000000000"),  # r1 = *(u64 *)(r9 + 0)
    (store_64(R9, 8, R1), "7b19080000000000"),  # *(u64 *)(r9 + 8) = r1
    (atomic_add_64(R9, 16, R1), "db19100000000000"),  # lock *(u64 *)(r9 + 16) += r1
    (load_packet_byte(15), "300000000f000000"),  # r0 = *(u8 *)skb[15]
    (call(97), "8500000061000000"),  # call 97
    (end(), "9500000000000000"),  # exit
]


@pytest.mark.parametrize(("instruction", "code"), KNOWN)
def test_an_instruction_has_its_bytes(instruction: Instruction, code: str) -> None:
    assert instruction.encode().hex() == code


@pytest.mark.parametrize(
    ("condition", "right", "code"),
    [
        (Condition.EQUAL, 0, "1501020000000000"),  # if r1 == 0 goto +2
        (Condition.NOT_EQUAL, 0, "5501020000000000"),  # if r1 != 0 goto +2
        (Condition.LESS, 78, "a50102004e000000"),  # if r1 < 78 goto +2
        (Condition.SIGNED_GREATER, R2, "6d21020000000000"),  # if r1 s> r2 goto +2
        (Condition.SIGNED_GREATER_OR_EQUAL, R2, "7d21020000000000"),  # if r1 s>= r2 goto +2
        (Condition.SIGNED_LESS_OR_EQUAL, R2, "dd21020000000000"),  # if r1 s<= r2 goto +2
    ],
)
def test_a_jump_has_its_bytes(condition: Condition, right: Register | int, code: str) -> None:
    between = (alu(Alu.MOVE, R0, 0), end())
    program = assemble((jump_if(condition, R1, right, "there"), *between, Label("there"), end()))
    assert program[0].encode().hex() == code


def test_a_jump_goes_backwards_and_to_the_next_instruction() -> None:
    program = assemble((Label("a"), jump("b"), Label("b"), jump("a")))
    assert encode(program).hex() == "0500000000000000" + "0500feff00000000"


def test_a_jump_counts_a_wide_instruction_twice() -> None:
    program = assemble((jump("there"), *load_immediate(R1, 1), Label("there"), end()))
    assert program[0].offset == 2


def test_an_unknown_label_is_an_error() -> None:
    with pytest.raises(KeyError, match="nowhere"):
        assemble((jump("nowhere"),))


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_wide_immediate_keeps_every_bit(value: int) -> None:
    code = encode(load_immediate(R2, value))
    opcode, registers, low, second, high = struct.unpack("<BB2xIII", code)
    assert (opcode, registers, second) == (0x18, 0x02, 0)
    assert high << 32 | low == value % 2**64


def test_the_address_of_a_maps_value_names_the_map_and_the_place() -> None:
    assert encode(load_map_value(R9, 7, 16)).hex() == "1829000007000000" + "0000000010000000"


@pytest.mark.parametrize("instruction", [alu(Alu.ADD, R1, 2**31), load_32(R1, R6, 2**15)])
def test_what_does_not_fit_is_an_error(instruction: Instruction) -> None:
    with pytest.raises(struct.error):
        instruction.encode()
