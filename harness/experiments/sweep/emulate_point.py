"""The summary of an emulated point, which has the box to itself."""

from __future__ import annotations

import contextlib
import errno
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emulator.fork_server import DIVIDED_KINDS, NETWORK_KINDS, ROUNDS_KINDS
from emulator.session import Session
from harness.experiments.sweep.work import Stop
from netshaper.run_state import new_run_id
from traces.rounds_scenario import is_rounds_scenario, rounds_scenario_of
from traces.scenario import scenario_of
from traces.yaml_source import YamlSource

_NAME = b"\0roundelay/emulated-sweep"
_ASK_AGAIN_S = 0.2


@contextlib.contextmanager
def box_to_itself(stop: Stop) -> Iterator[bool]:
    """Wait until no other sweep emulates on this box; False where a stop came before.

    The lock is a name in the kernel's abstract socket namespace (unix(7)): whoever holds it, and
    however that ends, nothing is left of it.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as lock:
        while not _bound(lock):
            if stop():
                yield False
                return
            time.sleep(_ASK_AGAIN_S)
        yield True


def _bound(lock: socket.socket) -> bool:
    try:
        lock.bind(_NAME)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True


def emulated_summary(source: YamlSource, stop: Stop) -> dict[str, Any] | None:
    """What ``emulate`` would say of the scenario in ``source``; None where it was stopped.

    Raises RoundelayError as that does.
    """
    with box_to_itself(stop) as held:
        if not held:
            return None
        summary = _rounds(source, stop) if is_rounds_scenario(source) else _iterations(source, stop)
        return None if stop() else summary


def _iterations(source: YamlSource, stop: Stop) -> dict[str, Any]:
    from harness.experiments.run import decide_all, emulate_all, scale_of
    from harness.experiments.summary import summarise

    scenario = scenario_of(source)
    results = decide_all(scenario)
    scale = scale_of(scenario)
    divides = any(arm.resources for arm in scenario.arms)
    kinds = DIVIDED_KINDS if divides else NETWORK_KINDS
    with Session(new_run_id(), limits=divides, kinds=kinds) as session:
        emulate_all(session, results, scale, _unsaid, stop)
    return summarise(scenario, scale, results, interrupted=stop())


def _rounds(source: YamlSource, stop: Stop) -> dict[str, Any]:
    from harness.experiments.rounds.both import (
        STATES,
        Origin,
        check,
        emulate_all,
        scale_here,
        simulate_all,
        summary_of,
    )
    from harness.experiments.rounds.emulated_tables import EmulatedTables
    from harness.experiments.rounds.store import RoundsStore

    scenario = rounds_scenario_of(source)
    check(scenario)
    runs = simulate_all(scenario, None, _unsaid, stop)
    scale = scale_here(scenario, runs)
    # The tables of the run are not kept: a sweep keeps its summary.
    with tempfile.TemporaryDirectory(prefix="roundelay-point-") as place:
        tables_at = Path(place)
        with (
            Session(new_run_id(), limits=True, kinds=ROUNDS_KINDS) as session,
            RoundsStore(tables_at) as store,
            EmulatedTables(tables_at) as tables,
        ):
            origin = Origin(tables_at / STATES)
            emulate_all(session, runs, scenario, scale, store, tables, _unstood, stop, origin)
    return summary_of(scenario, runs, scale, {}, predicts=False, interrupted=stop())


def _unsaid(what: str, done: int, total: int) -> None:
    """The progress inside a point is nobody's."""


def _unstood(what: str, standing: object) -> None:
    """Nor is how it stands."""
