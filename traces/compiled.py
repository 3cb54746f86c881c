"""Functions that are compiled to machine code, with their types kept for the checker."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numba

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """``function`` through numba; the machine code is kept between processes where it can be.

    On a file system where neither the package nor the user's cache is writable, every process
    compiles anew, which takes some seconds and changes no result. With NUMBA_DISABLE_JIT=1 the same
    function runs as plain Python, which the tests compare with.
    """
    try:
        result: Callable[_Parameters, _Result] = numba.njit(cache=True)(function)
    except RuntimeError:  # numba found no place for its cache
        result = numba.njit()(function)
    return result
