"""Children that have children and threads of their own, as a training process has."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from emulator.limits.available import LIMITS, AvailableLimits

NO_PRIVILEGE = AvailableLimits((), dict.fromkeys(LIMITS, "use sudo"))
"""As for a person who may make no cgroups."""

_DEADLINE_S = 20.0

FAMILY = """
import os, sys, threading, time
def wait(): time.sleep(600)
threading.Thread(target=wait, daemon=True).start()
child = os.fork()
if child == 0:
    grandchild = os.fork()
    os.write(1, b"%d\\n" % (grandchild or os.getpid()))
    if grandchild == 0:
        wait()
    if sys.stdin.readline():
        os._exit(0)
    wait()
os.waitpid(child, 0)
print("waited", flush=True)
wait()
"""
"""Prints the grandchild's id twice; its child ends at a line, and then it says so."""


@contextlib.contextmanager
def running(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """``script`` as a child, in a session of its own; its own end is seen to, and no other's."""
    command = (sys.executable, "-c", script, *arguments)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line_of(process: subprocess.Popen[str]) -> str:
    """The next line that it prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    """Give it a line."""
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline_s = time.monotonic() + _DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s, f"waited in vain for {what}"
        time.sleep(0.005)
