"""Every kind of child that a run may start has a main function."""

from __future__ import annotations

import importlib

import pytest

from emulator.fork_server import CAPTURED_KINDS, CHILDREN, DIVIDED_KINDS, ROUNDS_KINDS


@pytest.mark.parametrize("kind", CHILDREN)
def test_its_main_function_is_there(kind: str) -> None:
    module, _, function = CHILDREN[kind].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_each_kind_is_of_some_run() -> None:
    assert {*CAPTURED_KINDS, *DIVIDED_KINDS, *ROUNDS_KINDS} == CHILDREN.keys()
