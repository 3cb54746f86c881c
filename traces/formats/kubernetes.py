"""Jobs of a Kubernetes cluster, as ``kubectl get KINDS -A -o json`` prints them; or ``-o yaml``.

For example ``kubectl get jobs,pods,pytorchjobs,mpijobs,jobs.batch.volcano.sh -A -o json``. What
each kind means is in ``kubernetes_workloads``. A job is submitted when its object is created. Its
virtual cluster is the namespace, its id ``namespace/kind/name``; its user is what a label or an
annotation says that is called user, username, owner, submitter or created-by.

What another object controls is a part of that one, such as the pods of a Job or the Job that
launches an MPIJob. A CronJob, a workflow and a TrainJob only make jobs: those count.

A job starts with the first of its pods where the file has them, for a controller's ``startTime`` is
when it took note of the job. Its run time is from then to its end, over all of its attempts. An
object does not say when the file was written, so the run time of a job that runs is not known.

JSON of any length is read in little memory, also packed with gzip. YAML is read whole, 16 MiB at
most, and takes about ten times as long.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from traces.errors import BadInputError
from traces.formats import recorded_jobs
from traces.formats.json_array import beginning_of, source_of
from traces.formats.kubernetes_demand import demand_of
from traces.formats.kubernetes_object import LIST, Part, objects_of
from traces.formats.kubernetes_workloads import Workload, user_of, workload_of
from traces.formats.recorded_jobs import DROP_NEVER_STARTED, DROP_UNFINISHED
from traces.job_trace import JobTrace, checked_trace
from traces.trace_format import Cleaning, CleaningRule, Head, ReadOptions, TraceFormat

DROP_OTHER_KINDS = CleaningRule("drop-other-kinds", "it is no job of a kind that is known")
DROP_OWNED = CleaningRule("drop-owned", "it is a part of what controls it, such as a job's pod")
RULES = (
    DROP_OTHER_KINDS,
    DROP_OWNED,
    DROP_NEVER_STARTED,
    DROP_UNFINISHED,
    *recorded_jobs.RULES,
)

MAKERS = ("CronJob", "JobFlow", "TrainJob", "Workflow")
"""Kinds whose objects make jobs, and are none."""

_DEFAULT = ReadOptions()


def read_kubernetes(file: Path, options: ReadOptions = _DEFAULT) -> JobTrace:
    """The jobs of ``file``. Raises BadInputError with line and key."""
    cleaning = Cleaning(RULES, options)
    if options.share < 1:
        problem = "a part of the file cannot be read"
        raise BadInputError(
            problem, allowed="all of it: a job's pods can stand anywhere", file=file
        )
    found = _Found(cleaning)
    for item in objects_of(file):
        found.add(item)
    if not found.read:
        raise BadInputError("there is no object", allowed=LIST, file=file)
    jobs = found.jobs()
    kept = cleaning.leave_out(jobs, jobs["start_s"].isna().to_numpy(), DROP_NEVER_STARTED)
    kept = cleaning.leave_out(kept, kept["end_s"].isna().to_numpy(), DROP_UNFINISHED)
    duration_s = kept["end_s"] - kept["start_s"]
    queue_s = kept["start_s"] - kept["submit_s"]
    kept = kept.assign(duration_s=duration_s, executed_s=duration_s, queue_s=queue_s)
    kept = recorded_jobs.cleaned(kept, cleaning)
    kept, began = recorded_jobs.from_the_earliest(kept, is_utc=True)
    return checked_trace(
        kept.drop(columns=["start_s", "end_s", "starts_with_pods", "sliced"]),
        source=source_of(file),
        format=FORMAT.name,
        file=file,
        read=found.read,
        notes=(*found.notes(), *_notes_on(kept)),
        left_out=cleaning.left_out,
        changed=cleaning.changed,
        began=began,
        names={
            "job": "metadata.name",
            "submit_s": "metadata.creationTimestamp",
            "num_gpus": "resources",
            "cpus": "resources",
            "memory_bytes": "resources",
            "duration_s": "status",
            "iterations": "status",
            "queue_s": "status",
        },
    )


def _notes_on(jobs: pd.DataFrame) -> Iterator[str]:
    sliced = int(np.count_nonzero(jobs["sliced"]))
    if sliced:
        yield f"jobs with slices of GPUs, each of which counts as one GPU: {sliced:,}"
    without_pods = int(np.count_nonzero(~jobs["starts_with_pods"].to_numpy(dtype=bool)))
    if without_pods:
        yield f"jobs without pods in the file, with their controllers' starts: {without_pods:,}"


@dataclass
class _Found:
    """What the objects that were added are.

    _starts_s: by the uid of a job, in s from 1970, the first start of its pods, and, as the second
    one, of the jobs that are its parts. _owners: of these, by the uid of a part, that of the job.
    """

    cleaning: Cleaning
    read: int = 0
    _rows: list[dict[str, object]] = field(default_factory=list)
    _uids: list[str | None] = field(default_factory=list)
    _pod_starts_s: dict[str, float] = field(default_factory=dict)
    _part_starts_s: dict[str, float] = field(default_factory=dict)
    _owners: dict[str, str] = field(default_factory=dict)
    _parts_of: Counter[tuple[str, str]] = field(default_factory=Counter)
    _other_kinds: Counter[str] = field(default_factory=Counter)

    def add(self, item: Part) -> None:
        self.read += 1
        workload = workload_of(item)
        if workload is None:
            self._add_other(item)
            return
        owner = _owner_of(item)
        if owner is not None and self.cleaning.applies(DROP_OWNED):
            self._add_part(item, workload, owner)
        else:
            self._rows.append(_row(item, workload))
            self._uids.append(item.at("metadata").at("uid").text())

    def _add_other(self, item: Part) -> None:
        if not self.cleaning.applies(DROP_OTHER_KINDS):
            raise item.at("kind").refusal("a job of a kind that is known, or a pod")
        self.cleaning.left_out[DROP_OTHER_KINDS.name] += 1
        self._other_kinds[item.at("kind").text() or "no kind"] += 1

    def _add_part(self, item: Part, workload: Workload, owner: Part) -> None:
        self.cleaning.left_out[DROP_OWNED.name] += 1
        uid, of_uid = item.at("metadata").at("uid").text(), owner.at("uid").text()
        self._parts_of[owner.at("kind").text() or "no kind", of_uid or ""] += 1
        if of_uid is None:
            return
        is_pod = workload.short == "pod"
        starts_s = self._pod_starts_s if is_pod else self._part_starts_s
        starts_s[of_uid] = _first(starts_s.get(of_uid), workload.course(item).start_s)
        if uid is not None and not is_pod:
            self._owners[uid] = of_uid

    def jobs(self) -> pd.DataFrame:
        """The jobs, with ``starts_with_pods`` and their best known ``start_s``."""
        for part, owner in self._owners.items():
            if part in self._pod_starts_s:
                first = _first(self._pod_starts_s.get(owner), self._pod_starts_s[part])
                self._pod_starts_s[owner] = first
        texts = dict.fromkeys(("job", "user", "gpu_type", "virtual_cluster", "state"), "string")
        jobs = pd.DataFrame(self._rows, columns=_COLUMNS).astype(texts)
        uids = pd.Series([uid or "" for uid in self._uids], dtype="string")
        pods_s = uids.map(self._pod_starts_s).astype("float64")
        parts_s = uids.map(self._part_starts_s).astype("float64")
        start_s = pods_s.fillna(jobs["start_s"].astype("float64")).fillna(parts_s)
        with_pods = jobs["starts_with_pods"] | pods_s.notna()
        return jobs.assign(start_s=start_s, starts_with_pods=with_pods)

    def notes(self) -> Iterator[str]:
        if self._other_kinds:
            yield f"kinds that are not read: {_counted(self._other_kinds)}"
        read = {*self._uids, *self._owners}
        lost: Counter[str] = Counter()
        for (kind, uid), count in self._parts_of.items():
            if uid not in read:
                lost[kind] += count
        if lost:
            yield f"parts of what the file lacks or what is no job: of {_counted(lost)}"


_COLUMNS = (
    "job",
    "submit_s",
    "start_s",
    "end_s",
    "num_gpus",
    "gpu_type",
    "cpus",
    "memory_bytes",
    "user",
    "virtual_cluster",
    "state",
    "attempts",
    "line",
    "starts_with_pods",
    "sliced",
)


def _row(item: Part, workload: Workload) -> dict[str, object]:
    metadata = item.at("metadata")
    name, namespace = metadata.at("name").text(), metadata.at("namespace").text()
    if name is None:
        raise metadata.at("name").refusal("the name of the object")
    created = metadata.at("creationTimestamp")
    submit_s = created.instant_s()
    if math.isnan(submit_s):
        raise created.refusal("the time at which the object was created")
    demand, course = demand_of(workload.pods(item)), workload.course(item)
    return {
        "job": "/".join(each for each in (namespace, workload.short, name) if each),
        "submit_s": submit_s,
        "start_s": course.start_s,
        "end_s": course.end_s,
        "num_gpus": demand.gpus,
        "gpu_type": "+".join(demand.gpu_types) or None,
        "cpus": demand.cpus or math.nan,
        "memory_bytes": demand.memory_bytes or math.nan,
        "user": user_of(item),
        "virtual_cluster": namespace,
        "state": course.state,
        "attempts": course.attempts,
        "line": item.line,
        "starts_with_pods": workload.short in ("pod", "vcjob"),
        "sliced": any(each.startswith("mig-") for each in demand.gpu_types),
    }


def _owner_of(item: Part) -> Part | None:
    """The reference to what controls ``item``, if that is a job or keeps a service."""
    for owner in item.at("metadata").at("ownerReferences").parts():
        if owner.at("controller").value is True and owner.at("kind").text() not in MAKERS:
            return owner
    return None


def _first(known_s: float | None, other_s: float) -> float:
    return other_s if known_s is None else float(np.fmin(known_s, other_s))


def _counted(kinds: Counter[str]) -> str:
    return ", ".join(f"{kind} {count:,}" for kind, count in sorted(kinds.items()))


def _is_list(head: Head) -> bool:
    text = beginning_of(head.data)
    if text.startswith("{"):
        return '"apiVersion"' in text and '"items"' in text
    return text.startswith("apiVersion:") and "\nitems:" in text


FORMAT = TraceFormat(
    name="kubernetes",
    title="jobs and pods of Kubernetes, Volcano and Kubeflow (kubectl get -o json)",
    read=read_kubernetes,
    is_format=_is_list,
    rules=RULES,
)
