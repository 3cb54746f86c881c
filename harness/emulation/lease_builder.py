"""From what a scheduler gives to what an emulated cluster is told. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from emulator.rounds.lease import Held, Lease
from harness.job_table import Floats
from harness.scheduling.allocation import Allocation
from traces.errors import BadInputError
from traces.sensitivity import Sensitivities
from traces.server_pool import RESOURCES, ServerPool
from traces.stage_costs import StageCosts
from traces.stage_reconstruction import stage_costs_of, storage_rate_of

_CPUS, _MEMORY, _STORAGE = range(len(RESOURCES))
_ALLOWED = "a mechanism that gives out whole GPUs: any but opt"


class LeaseBuilder:
    """Makes leases of allocations.

    jobs, models: of each row of the JobTable; a model is empty where only the time of an iteration
    is known. sensitivities: None where there are no profiles. commands: of models, the user's own.
    """

    def __init__(
        self,
        jobs: Sequence[str],
        models: Sequence[str],
        pool: ServerPool,
        sensitivities: Sensitivities | None,
        commands: Mapping[str, Sequence[str]],
    ) -> None:
        self._jobs = jobs
        self._models = models
        self._pool = pool
        self._sensitivities = sensitivities
        self._commands = commands

    def name_of(self, row: int) -> str:
        """The id of the job in ``row`` of the JobTable."""
        return self._jobs[row]

    def build(
        self,
        allocation: Allocation,
        position: int,
        *,
        iterations_left: float,
        iterations_done: float,
        lost_s: float,
        is_new: bool,
    ) -> Lease:
        """The lease of the job at ``position`` of ``allocation``.

        Raises BadInputError where it holds a part of a GPU, or GPUs of no server in particular.
        """
        row = int(allocation.jobs[position])
        share = allocation.share[position]
        stages, storage_bytes_per_s = self._stages(allocation, position)
        held = []
        for each in range(int(allocation.offsets[position]), int(allocation.offsets[position + 1])):
            server, gpus = int(allocation.servers[each]), float(allocation.gpus[each])
            if server < 0 or gpus != round(gpus):
                what = "GPUs of no server in particular" if server < 0 else f"{gpus:g} GPUs"
                raise BadInputError(
                    f"job {self._jobs[row]!r} gets {what}, which no process can run on",
                    allowed=_ALLOWED,
                    key="scheduler.mechanism",
                )
            held.append(
                Held(
                    server=server,
                    gpus=int(gpus),
                    cpus=float(share[_CPUS]) * gpus,
                    memory_bytes=float(share[_MEMORY]) * gpus,
                    storage_bytes_per_s=storage_bytes_per_s * gpus,
                )
            )
        command = self._commands.get(self._models[row])
        return Lease(
            job=self._jobs[row],
            number=row,
            held=tuple(held),
            stages=stages,
            iterations_left=iterations_left,
            iterations_done=iterations_done,
            is_new=is_new,
            lost_s=lost_s,
            command=None if command is None else tuple(command),
        )

    def _stages(self, allocation: Allocation, position: int) -> tuple[StageCosts, float]:
        """(what an iteration costs a GPU of the job, bytes/s that the GPU may read).

        A job without a profile computes only, for as long as its iteration takes. Storage is what
        was allocated, where it is given out and the profile knows what it is needed for, but never
        faster than the profile was measured with: its speeds hold up to there.
        """
        model = self._models[int(allocation.jobs[position])]
        share: Floats = allocation.share[position]
        if self._sensitivities is None or not model:
            return StageCosts(float(allocation.iteration_s[position]), 0.0), float("inf")
        gpu_type = self._pool.gpu_types[int(allocation.gpu_type[position])]
        sensitivity = self._sensitivities.of(model, gpu_type)
        rate = storage_rate_of(sensitivity)
        if not self._pool.gives_storage or sensitivity.dataset_bytes is None:
            return stage_costs_of(sensitivity, float(share[_CPUS])), rate
        first, last = allocation.offsets[position], allocation.offsets[position + 1]
        together = int(max(allocation.gpus[first:last]))
        stages = stage_costs_of(sensitivity, float(share[_CPUS]), cache_shared_by=together)
        return stages, min(rate, float(share[_STORAGE]))
