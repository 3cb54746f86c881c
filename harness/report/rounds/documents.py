"""The JSON documents of a run of rounds, as far as the report shows them."""

from __future__ import annotations

from pydantic import Field

from harness.report import documents
from harness.report.documents import Document
from harness.report.iterations.documents import VerdictRead


class IntervalRead(Document):
    """A figure over the seeds with its 95 % interval; without one where there is a single seed."""

    value: float
    low: float | None
    high: float | None
    seeds: int


class ServersRead(Document):
    """Servers that are alike."""

    count: int
    gpus: int
    cpus: float
    memory_bytes: float
    storage_bytes_per_s: float | None
    gpu_type: str


class RefusalRead(Document):
    """Jobs that were left out, and why. where: in words."""

    reason: str
    count: int
    where: str


class JobsRead(Document):
    """What became of the jobs of the workload. states: how many were in each at the run's end."""

    read: int
    reordered: int
    notes: list[str]
    refused: list[RefusalRead]
    ran: int
    counted: int
    counted_and_finished: int
    states: dict[str, int]


class CompletionRead(Document):
    """Completion times of the jobs that count, in seconds from submission to end."""

    count: int
    mean: float
    p50: float
    p99: float
    p99_9: float


class CompletionsRead(Document):
    """Those of all, of short and of long jobs; None where no such job has ended."""

    all: CompletionRead | None
    short: CompletionRead | None
    long: CompletionRead | None


class SeedRead(Document):
    """One arm with one seed. mechanism: its own figures, by name with the unit in it."""

    seed: int
    source: str
    jobs: JobsRead
    load: float | None
    jct_s: CompletionsRead
    waited_mean_s: float | None
    makespan_s: float | None
    gpu_utilisation: float | None
    leases_per_job: float | None
    rounds: int
    decisions: int
    end_s: float
    mechanism: dict[str, float]


class GenerateRead(Document):
    """A generator of jobs."""

    jobs: int
    load: float | None = None
    jobs_per_hour: float | None = None
    gpus: str = "single"


class WorkloadRead(Document):
    """Where jobs come from. split: weights of the classes that models are drawn from."""

    trace: str | None = None
    generate: GenerateRead | None = None
    profiles: str = "synergy"
    split: dict[str, float] = Field(default_factory=dict)


class MeasureRead(Document):
    """Which jobs count, and up to how many seconds a job is short."""

    first: int
    count: int | None
    short: float


class ErrorsRead(Document):
    """Simulated against emulated completion times: harness.fidelity.completion."""

    emulated_mean_s: float
    simulated_mean_s: float
    mean_error: float
    mape: float
    p95: float
    most: float


class EmulatedRead(Document):
    """An arm on real workers. incidents: what went wrong and was mended."""

    runs: list[SeedRead]
    verdict: VerdictRead
    errors: ErrorsRead | None
    incidents: list[str]


class DivisorsRead(Document):
    """How much smaller things are than in the cluster."""

    stride: float
    cpu: float
    bytes: float


class ScaleRead(Document):
    """How the cluster was made to fit the machine."""

    divisors: DivisorsRead
    reason: str
    warnings: list[str]


class ArmRead(Document):
    """One arm with all its seeds. simulation: options by name. speedup: over the first arm."""

    name: str
    cluster: list[ServersRead] = Field(min_length=1)
    policy: str
    mechanism: str
    placement: str
    round_s: float = Field(gt=0)
    priority_after_s: float | None
    simulation: dict[str, str | float]
    workload: WorkloadRead
    measure: MeasureRead
    jct_mean_s: IntervalRead | None
    jct_p99_s: IntervalRead | None
    short_jct_mean_s: IntervalRead | None
    long_jct_mean_s: IntervalRead | None
    speedup: IntervalRead | None
    runs: list[SeedRead]
    emulated: EmulatedRead | None = None

    @property
    def num_gpus(self) -> int:
        """GPUs of all servers."""
        return sum(servers.count * servers.gpus for servers in self.cluster)

    def mean(self, figure: str) -> float | None:
        """Mean over the seeds of a figure of SeedRead; None where no seed has it."""
        values = [value for run in self.runs if (value := getattr(run, figure)) is not None]
        return sum(values) / len(values) if values else None


class Summary(Document):
    """summary.json."""

    scenario: str
    description: str
    seeds: list[int]
    interrupted: bool
    arms: list[ArmRead]
    scale: ScaleRead | None = None


class Provenance(documents.Provenance):
    """provenance.json. profiles: by arm, what is known of how fast models run."""

    profiles: dict[str, str]
