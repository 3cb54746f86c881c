"""What kinds of Kubernetes objects say of a job: what it asks for, when it ran, how it ended.

- Job of batch/v1: ``parallelism`` pods of a template, no more than ``completions``.
- Job of batch.volcano.sh: all ``replicas`` of its tasks, also where ``minAvailable`` is less.
- The jobs of kubeflow.org with ``...ReplicaSpecs``, such as PyTorchJob and MPIJob: all replicas.
- JobSet of jobset.x-k8s.io: all replicas of its jobs.
- Pods that nothing owns.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from traces.formats.kubernetes_object import Part

_USER_LABELS = ("user", "username", "owner", "submitter", "created-by")
_REPLICA_SPECS = re.compile(r"\w+ReplicaSpecs")

_REASONS = {
    "DeadlineExceeded": "timeout",
    "OOMKilled": "out-of-memory",
    "NodeLost": "node-failure",
    "NodeShutdown": "node-failure",
    "Preempting": "cancelled",
    "Evicted": "cancelled",
}
_VOLCANO_PHASES = {
    "Completed": "completed",
    "Failed": "failed",
    "Terminated": "failed",
    "Aborted": "cancelled",
} | dict.fromkeys(
    ("Pending", "Running", "Restarting", "Completing", "Terminating", "Aborting"), "running"
)
_POD_PHASES = {"Succeeded": "completed", "Failed": "failed"} | dict.fromkeys(
    ("Pending", "Running", "Unknown"), "running"
)


class Course(NamedTuple):
    """How a job went: times in s from 1970, NaN where there is none; one of STATES; attempts."""

    start_s: float
    end_s: float
    state: str
    attempts: float = math.nan


class Workload(NamedTuple):
    """A kind of job. short: its name in ids."""

    short: str
    pods: Callable[[Part], Iterator[tuple[int, Part]]]
    course: Callable[[Part], Course]


def workload_of(item: Part) -> Workload | None:
    """The kind that ``item`` is, None where it is none that is known."""
    group = (item.at("apiVersion").text() or "").partition("/")[0]
    kind = item.at("kind").text() or ""
    if (group, kind) in _KINDS:
        return _KINDS[group, kind]
    if group == "kubeflow.org" and _replica_specs(item) is not None:
        return Workload(kind.lower(), _replica_pods, _training_course)
    return None


def user_of(item: Part) -> str | None:
    """Who submitted ``item``, by a label or annotation with one of the usual names."""
    for place in ("labels", "annotations"):
        about = item.at("metadata").at(place)
        told = about.names()
        for label in _USER_LABELS:
            if label in told and (user := about.at(label).text()) is not None:
                return user
    return None


def _own_pod(item: Part) -> Iterator[tuple[int, Part]]:
    yield 1, item.at("spec")


def _template_pods(item: Part) -> Iterator[tuple[int, Part]]:
    spec = item.at("spec")
    parallel = spec.at("parallelism").number(1)
    yield min(parallel, spec.at("completions").number(parallel)), _template(spec)


def _task_pods(item: Part) -> Iterator[tuple[int, Part]]:
    for task in item.at("spec").at("tasks").parts():
        yield task.at("replicas").number(1), _template(task)


def _jobset_pods(item: Part) -> Iterator[tuple[int, Part]]:
    for replicated in item.at("spec").at("replicatedJobs").parts():
        for count, pod in _template_pods(replicated.at("template")):
            yield replicated.at("replicas").number(1) * count, pod


def _replica_pods(item: Part) -> Iterator[tuple[int, Part]]:
    specs = _replica_specs(item)
    roles = [] if specs is None else [specs.at(name) for name in specs.names()]
    for role in roles:
        yield role.at("replicas").number(1), _template(role)


def _template(part: Part) -> Part:
    return part.at("template").at("spec")


def _replica_specs(item: Part) -> Part | None:
    spec = item.at("spec")
    key = next((key for key in spec.names() if _REPLICA_SPECS.fullmatch(key)), None)
    return None if key is None else spec.at(key)


def _pod_course(pod: Part) -> Course:
    status = pod.at("status")
    statuses = status.at("containerStatuses").parts()
    ends = [each.at("state").at("terminated") for each in statuses]
    state = _mapped(status.at("phase"), _POD_PHASES)
    reasons = [status.at("reason").text(), *(end.at("reason").text() for end in ends)]
    if state == "failed":
        state = next((_REASONS[reason] for reason in reasons if reason in _REASONS), state)
    finished = [end.at("finishedAt").instant_s() for end in ends]
    restarts = max((each.at("restartCount").number(0) for each in statuses), default=0)
    start_s = status.at("startTime").instant_s()
    end_s = math.nan if state == "running" else _latest(finished)
    return Course(start_s, end_s, state, restarts + 1.0)


def _batch_course(job: Part) -> Course:
    status, spec = job.at("status"), job.at("spec")
    pods = [status.at(name).number(0) for name in ("active", "succeeded", "failed")]
    # Else some of its pods are no attempts, but parts of it.
    is_one_pod = all(spec.at(name).number(1) == 1 for name in ("parallelism", "completions"))
    attempts = float(sum(pods)) if is_one_pod else math.nan
    return _by_conditions(status, {"Complete": "completed", "Failed": "failed"}, attempts)


def _training_course(job: Part) -> Course:
    ends = {"Succeeded": "completed", "Failed": "failed"}
    return _by_conditions(job.at("status"), ends, math.nan)


def _jobset_course(job: Part) -> Course:
    ends = {"Completed": "completed", "Failed": "failed"}
    return _by_conditions(job.at("status"), ends, math.nan)


def _by_conditions(status: Part, ends: dict[str, str], attempts: float) -> Course:
    """A course whose end is a condition that is true. Some jobs do not set ``startTime``."""
    true = {
        each.at("type").text(): each
        for each in status.at("conditions").parts()
        if each.at("status").text() == "True"
    }
    start_s = status.at("startTime").instant_s()
    if math.isnan(start_s) and "Running" in true:
        start_s = true["Running"].at("lastTransitionTime").instant_s()
    for kind, state in ends.items():
        if kind in true:
            end_s = status.at("completionTime").instant_s()
            if math.isnan(end_s):
                end_s = true[kind].at("lastTransitionTime").instant_s()
            reason = true[kind].at("reason").text() or ""
            return Course(start_s, end_s, _REASONS.get(reason, state), attempts)
    return Course(start_s, math.nan, "running", attempts)


def _volcano_course(job: Part) -> Course:
    status = job.at("status")
    state = _mapped(status.at("state").at("phase"), _VOLCANO_PHASES)
    running = [
        each.at("lastTransitionTime").instant_s()
        for each in status.at("conditions").parts()
        if each.at("status").text() == "Running"
    ]
    start_s = min((each for each in running if not math.isnan(each)), default=math.nan)
    end_s = status.at("state").at("lastTransitionTime").instant_s()
    attempts = status.at("retryCount").number(0) + 1.0
    return Course(start_s, math.nan if state == "running" else end_s, state, attempts)


def _mapped(phase: Part, states: dict[str, str]) -> str:
    """The state that a phase is; one that has none yet is running."""
    text = phase.text()
    if text is not None and text not in states:
        raise phase.refusal(", ".join(states))
    return "running" if text is None else states[text]


def _latest(instants: list[float]) -> float:
    return max((each for each in instants if not math.isnan(each)), default=math.nan)


_KINDS = {
    ("v1", "Pod"): Workload("pod", _own_pod, _pod_course),
    ("batch", "Job"): Workload("job", _template_pods, _batch_course),
    ("jobset.x-k8s.io", "JobSet"): Workload("jobset", _jobset_pods, _jobset_course),
    ("batch.volcano.sh", "Job"): Workload("vcjob", _task_pods, _volcano_course),
}
