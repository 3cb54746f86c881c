"""python -m bench [--only AREA]."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator, Sequence

from bench import (
    cassini,
    demand,
    emulated_deployment,
    emulated_rounds,
    example_runs,
    fifty_workers,
    netshaper,
    profiler,
    profiling_grid,
    profiling_search,
    replayed_jobs,
    report,
    scheduling,
    simulation,
    sweep,
    traces,
)
from bench.figures import Figure, machine_reference, write

AREAS: dict[str, Sequence[Callable[[], Iterator[Figure]]]] = {
    "fidelity": (example_runs.measure, emulated_deployment.measure, replayed_jobs.measure),
    "netshaper": (netshaper.measure,),
    "emulator": (fifty_workers.measure, emulated_rounds.measure),
    "scheduling": (scheduling.measure,),
    "simulation": (simulation.measure,),
    "cassini": (cassini.measure,),
    "profiler": (profiling_search.measure, profiler.measure, profiling_grid.measure),
    "demand": (demand.measure,),
    "traces": (traces.measure,),
    "report": (report.measure,),
    "sweep": (sweep.measure,),
}


def main() -> None:
    """Measure, printing each figure as it is known."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--only", choices=sorted(AREAS), help="one area; make bench ONLY=AREA")
    only = parser.parse_args().only
    figures = [machine_reference()]
    print(figures[0], flush=True)
    for area, measures in AREAS.items():
        if only in (None, area):
            print(f"{area} ...", flush=True)
            for figure in itertools.chain.from_iterable(measure() for measure in measures):
                figures.append(figure)
                print(figure, flush=True)
    write(figures)


if __name__ == "__main__":
    main()
