"""Run a plan's commands: batches of ip and tc, namespaces at once, stopping at a failure."""

from __future__ import annotations

import functools
import itertools
import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from netshaper.namespaces import inside_namespace
from netshaper.parent_death import end_with_parent
from netshaper.plan import Command, NetworkPlan
from netshaper.settings import write_settings
from traces.errors import EmulationError, MissingCapabilityError

TIMEOUT_S = 60.0


def require_tools() -> None:
    """Raise MissingCapabilityError where iproute2 or procps is not installed."""
    for tool, package in (("ip", "iproute2"), ("tc", "iproute2"), ("sysctl", "procps")):
        if shutil.which(tool) is None:
            raise MissingCapabilityError(
                f"the command {tool!r} is not found",
                remedy=f"install the package {package} (apt-get install {package})",
            )


def run_commands(commands: Iterable[Command]) -> None:
    """Run ``commands``, stopping at the first that fails.

    They run in order, but for neighbours in different namespaces, which know nothing of each other:
    as many namespaces as there are CPUs have their turn at once.
    """
    for are_inside, group in itertools.groupby(
        commands, key=lambda command: command.namespace is not None
    ):
        if are_inside:
            _run_in_namespaces(group)
        else:
            _run_batches(group)


def _run_in_namespaces(commands: Iterable[Command]) -> None:
    of_namespaces: dict[str, list[Command]] = defaultdict(list)
    for command in commands:
        of_namespaces[command.namespace or ""].append(command)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        # Of several failures the first in order is raised, and those not begun never begin.
        for _ in pool.map(_run_in_namespace, *zip(*of_namespaces.items(), strict=True)):
            pass


def _run_in_namespace(namespace: str, commands: Iterable[Command]) -> None:
    # As ``ip -n`` and ``ip netns exec`` do, less the view of /sys that these lay out: to take one
    # down takes the kernel longer than a batch.
    with inside_namespace(namespace):
        _run_batches(commands)


def _run_batches(commands: Iterable[Command]) -> None:
    """Neighbours of one tool share a process; a sysctl needs none."""
    for tool, group in itertools.groupby(commands, key=lambda command: command.tool):
        batch = list(group)
        if tool == "sysctl":
            for command in batch:
                _set(command)
        else:
            _run(tool, batch)


def _set(command: Command) -> None:
    assignments = (word.partition("=") for word in command.words if not word.startswith("-"))
    try:
        write_settings({name: value for name, _, value in assignments})
    except EmulationError as error:
        raise EmulationError(f"{command}: {error}") from None


def _run(tool: str, batch: list[Command]) -> None:
    # A batch that outlived a killed run would make namespaces after ``clean`` looked for them. One
    # inside a namespace cannot, and to start it without this is cheaper: no copy of this process.
    end = functools.partial(end_with_parent, os.getpid()) if batch[0].namespace is None else None
    try:
        done = subprocess.run(
            (tool, "-batch", "-"),
            input="".join(" ".join(command.words) + "\n" for command in batch),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            preexec_fn=end,
        )
    except FileNotFoundError:
        require_tools()
        raise
    except subprocess.TimeoutExpired:
        raise EmulationError(
            f"{batch[0]} and {len(batch) - 1} more hung for {TIMEOUT_S} s"
        ) from None
    if done.returncode != 0 or done.stderr.strip():
        line = re.search(r"Command failed -:(\d+)", done.stderr)
        failed = batch[int(line[1]) - 1] if line else batch[0]
        reason = done.stderr.strip().splitlines()[0] if done.stderr.strip() else "no reason given"
        raise EmulationError(f"{failed}: {reason} (exit {done.returncode})")


def build(plan: NetworkPlan) -> None:
    """Build the network. On failure what was made stays: the run's record names all of it."""
    run_commands(plan.commands)


def remove_namespaces(namespaces: Iterable[str]) -> list[str]:
    """Remove those of ``namespaces`` that exist, with all links in them; return their names."""
    existing = existing_namespaces()
    doomed = [name for name in namespaces if name in existing]
    run_commands(Command("ip", ("netns", "delete", name)) for name in doomed)
    return doomed


def existing_namespaces() -> set[str]:
    """Names of all network namespaces of this machine."""
    done = subprocess.run(
        ("ip", "netns", "list"), capture_output=True, text=True, timeout=TIMEOUT_S, check=True
    )
    return {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
