"""Sets of CPUs in the kernel's form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.limits.cpu_list import format_cpu_list, parse_cpu_list


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("", set()), ("0", {0}), ("0-1", {0, 1}), ("0-2,5,7-8", {0, 1, 2, 5, 7, 8})],
)
def test_the_kernels_form_is_read_and_written(text: str, cpus: set[int]) -> None:
    assert parse_cpu_list(text + "\n") == cpus
    assert format_cpu_list(cpus) == text


@given(st.frozensets(st.integers(0, 300)))
def test_any_set_comes_back(cpus: frozenset[int]) -> None:
    assert parse_cpu_list(format_cpu_list(cpus)) == cpus
