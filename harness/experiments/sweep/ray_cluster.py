"""Points on the nodes of a Ray cluster that is there already."""

from __future__ import annotations

import contextlib
import importlib
import logging
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

from harness.experiments.sweep.identity import version
from harness.experiments.sweep.work import Attempt, Failure, Outcome, Point, Stop
from traces.errors import BadInputError, MissingCapabilityError, on_one_line

_LOOK_AGAIN_S = 1.0

_Place = str | None
"""A node, or None for wherever Ray finds a CPU."""


@contextlib.contextmanager
def ray_cluster(address: str) -> Iterator[RayCluster]:
    """Connected to the cluster at ``address``, as ray.init() takes it.

    Raises MissingCapabilityError where Ray is not installed here, or a node has another version of
    this program; BadInputError where no cluster answers.
    """
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise MissingCapabilityError(
            "--ray needs the package ray", remedy="pip install 'roundelay[ray]'"
        ) from None
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise BadInputError(
            f"no Ray cluster answers at {address!r} ({_first_line(error)})",
            allowed="the address of one, such as 10.0.0.1:6379, or auto",
            key="--ray",
        ) from None
    try:
        cluster = RayCluster(ray)
        cluster.check_versions()
        yield cluster
    finally:
        ray.shutdown()


class RayCluster:
    """A cluster that this process is connected to. Nodes may come and go meanwhile."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._strategies = importlib.import_module("ray.util.scheduling_strategies")

    def run(
        self, points: Sequence[Point], function: Attempt, stop: Stop, *, one_per_node: bool
    ) -> Generator[Outcome, None, None]:
        """Outcomes in the order in which they are done.

        function: of a module's top level, which the nodes have, too. one_per_node: a point has a
        node to itself, with all its CPUs; else each takes one CPU. Once a stop is wanted, no
        further point begins. A point is never tried again: one whose node or process dies is a
        failure. Raises MissingCapabilityError where no node is left.
        """
        waiting = list(reversed(points))
        busy: dict[Any, tuple[Point, _Place]] = {}
        while True:
            if waiting and not stop():
                for place in self._free(busy, one_per_node=one_per_node)[: len(waiting)]:
                    point = waiting.pop()
                    busy[self._begin(function, point, place)] = (point, place)
                if not busy:
                    raise MissingCapabilityError(
                        "no node of the Ray cluster has a CPU",
                        remedy="start one, and say the same again to go on from here",
                    )
            if not busy:
                return
            ready, _ = self._ray.wait(list(busy), timeout=_LOOK_AGAIN_S)
            for reference in ready:
                point, _ = busy.pop(reference)
                yield self._outcome(point, reference)

    def check_versions(self) -> None:
        """MissingCapabilityError where a node lacks this program or has another version of it."""

        # Of no module, so that it can run where this program is not.
        def version_there() -> str | None:
            import importlib.metadata

            try:
                return importlib.metadata.version("roundelay")
            except importlib.metadata.PackageNotFoundError:
                return None

        references = {
            node: self._on(version_there, node, num_cpus=0).remote() for node in self._nodes()
        }
        for node, reference in references.items():
            try:
                found = self._ray.get(reference)
            except self._ray.exceptions.RayError as error:
                raise MissingCapabilityError(
                    f"node {node} of the Ray cluster runs nothing ({_first_line(error)})",
                    remedy="see 'ray status' there, and say the same again",
                ) from None
            if found != version():
                raise MissingCapabilityError(
                    f"node {node} of the Ray cluster has "
                    + (f"version {found} of Roundelay" if found else "no Roundelay"),
                    remedy=f"install version {version()} there",
                )

    def _nodes(self) -> dict[str, int]:
        """CPUs of the nodes that are alive and have any, by id."""
        return {
            node["NodeID"]: int(node["Resources"]["CPU"])
            for node in self._ray.nodes()
            if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
        }

    def _free(self, busy: dict[Any, tuple[Point, _Place]], *, one_per_node: bool) -> list[_Place]:
        """Places for further points now."""
        nodes = self._nodes()
        cpus = sum(nodes.values())
        places: Counter[_Place] = Counter(nodes.keys() if one_per_node else [None] * cpus)
        places.subtract(place for _, place in busy.values())
        return list(places.elements())

    def _begin(self, function: Attempt, point: Point, place: _Place) -> Any:
        if place is None:
            task = self._ray.remote(function).options(num_cpus=1, max_retries=0)
        else:
            task = self._on(function, place, num_cpus=self._nodes().get(place, 1))
        return task.remote(point)

    def _on(self, function: Callable[..., Any], node: str, *, num_cpus: int) -> Any:
        """``function`` as a task on ``node`` and nowhere else."""
        strategy = self._strategies.NodeAffinitySchedulingStrategy(node, soft=False)
        return self._ray.remote(function).options(
            num_cpus=num_cpus, max_retries=0, scheduling_strategy=strategy
        )

    def _outcome(self, point: Point, reference: Any) -> Outcome:
        try:
            outcome: Outcome = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return Outcome(point, failure=Failure(_first_line(error), str(error)))
        return outcome


def _first_line(error: Exception) -> str:
    return on_one_line(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}")
