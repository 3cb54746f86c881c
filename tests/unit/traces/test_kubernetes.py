"""Kubernetes: what objects ask for, when they ran and how they ended, what is part of what."""

from __future__ import annotations

import copy
import gzip
import json
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.refusal import refusal_of
from tests.unit.traces.damage import check_read_or_refused, damaged
from traces.errors import BadInputError
from traces.formats.kubernetes import RULES, read_kubernetes
from traces.formats.kubernetes_object import quantity
from traces.job_trace import JobTrace
from traces.trace_format import ReadOptions

Plain = dict[str, object]
GIB = 2.0**30


def at(clock: str) -> str:
    return f"2024-03-01T{clock}:00Z"


def container(gpus: int | str, **requests: object) -> Plain:
    return {"resources": {"limits": {"nvidia.com/gpu": gpus}, "requests": requests}}


def pod_spec(*containers: Plain, **more: object) -> Plain:
    return {"containers": list(containers), **more}


def described(
    api: str, kind: str, name: str, spec: Plain, status: Plain, **metadata: object
) -> Plain:
    about: Plain = {"name": name, "namespace": "team-a", "uid": f"uid-{name}"}
    about |= {"creationTimestamp": at("10:00"), **metadata}
    return {"apiVersion": api, "kind": kind, "metadata": about, "spec": spec, "status": status}


def controlled_by(kind: str, name: str) -> list[Plain]:
    return [{"kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}]


def condition(kind: str, clock: str, **more: object) -> Plain:
    return {"type": kind, "status": "True", "lastTransitionTime": at(clock), **more}


def pod(name: str, gpus: int | str = 1, **metadata: object) -> Plain:
    ended = {"terminated": {"finishedAt": at("11:30"), "reason": "Completed"}}
    status: Plain = {"phase": "Succeeded", "startTime": at("10:30")}
    status["containerStatuses"] = [{"restartCount": 1, "state": ended}]
    return described("v1", "Pod", name, pod_spec(container(gpus)), status, **metadata)


BATCH = described(
    "batch/v1",
    "Job",
    "tune",
    {
        "parallelism": 4,
        "completions": 2,
        "template": {"spec": pod_spec(container("2", cpu="500m", memory="64Gi"), container(0))},
    },
    {
        "startTime": at("10:01"),
        "completionTime": at("12:00"),
        "conditions": [condition("Complete", "12:00")],
    },
    labels={"user": "ann"},
)
FAILED = described(
    "batch/v1",
    "Job",
    "late",
    {"template": {"spec": pod_spec(container(1))}},
    {
        "startTime": at("10:02"),
        "failed": 3,
        "conditions": [
            {"type": "Suspended", "status": "False"},
            condition("Failed", "11:02", reason="DeadlineExceeded"),
        ],
    },
)
VOLCANO = described(
    "batch.volcano.sh/v1alpha1",
    "Job",
    "gang",
    {
        "minAvailable": 3,
        "tasks": [
            {"replicas": 1, "template": {"spec": pod_spec(container(0, cpu=1))}},
            {"replicas": 4, "template": {"spec": pod_spec(container(8))}},
        ],
    },
    {
        "state": {"phase": "Aborted", "lastTransitionTime": at("11:00")},
        "retryCount": 2,
        "conditions": [
            {"status": "Pending", "lastTransitionTime": at("10:00")},
            {"status": "Running", "lastTransitionTime": at("10:20")},
            {"status": "Running", "lastTransitionTime": at("10:40")},
        ],
    },
)
PYTORCH = described(
    "kubeflow.org/v1",
    "PyTorchJob",
    "bert",
    {
        "pytorchReplicaSpecs": {
            "Master": {"template": {"spec": pod_spec(container(1))}},
            "Worker": {
                "replicas": 3,
                "template": {
                    "spec": pod_spec(container(1), nodeSelector={"nvidia.com/gpu.product": "A100"})
                },
            },
        }
    },
    {
        "conditions": [
            condition("Created", "10:00"),
            condition("Running", "10:03"),
            condition("Succeeded", "11:03"),
        ]
    },
)
MPI = described(
    "kubeflow.org/v2beta1",
    "MPIJob",
    "mpi",
    {"mpiReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": pod_spec(container(4))}}}},
    {"startTime": at("10:04"), "conditions": [condition("Running", "10:05")]},
)
LAUNCHER = copy.deepcopy(BATCH) | {
    "metadata": {"name": "mpi-launcher", "ownerReferences": controlled_by("MPIJob", "mpi")}
}
SERVICE = pod("web-1", ownerReferences=controlled_by("ReplicaSet", "web"))
OTHER = described("apps/v1", "Deployment", "web", {}, {})
ITEMS = [
    BATCH,
    FAILED,
    VOLCANO,
    PYTORCH,
    MPI,
    LAUNCHER,
    SERVICE,
    OTHER,
    pod("solo", 2),
    pod("none", 0),
]


def write(directory: Path, *items: object) -> Path:
    file = directory / "jobs.json"
    lines = ",\n".join(json.dumps(item) for item in items)
    file.write_text(f'{{"apiVersion": "v1", "items": [\n{lines}\n], "kind": "List"}}\n')
    return file


def read(directory: Path, *items: object, **rules: bool) -> JobTrace:
    named = {name.replace("_", "-"): on for name, on in rules.items()}
    return read_kubernetes(write(directory, *items), ReadOptions(rules=named))


def refusal(directory: Path, *items: object, **rules: bool) -> BadInputError:
    return refusal_of(directory / "jobs.json", read, directory, *items, **rules)


def changed(item: Plain, path: str, value: object) -> Plain:
    """``item`` with ``value`` at the keys and places in ``path``."""
    whole = copy.deepcopy(item)
    *way, last = path.split(".")
    inner: object = whole
    for step in way:
        inner = inner[int(step) if step.isdigit() else step]  # type: ignore[index]
    inner[int(last) if last.isdigit() else last] = value  # type: ignore[index]
    return whole


def test_jobs_of_all_kinds(tmp_path: Path) -> None:
    trace = read(tmp_path, *ITEMS)
    jobs = trace.jobs.set_index("job")
    assert jobs.index.tolist() == [
        "team-a/job/tune",
        "team-a/job/late",
        "team-a/vcjob/gang",
        "team-a/pytorchjob/bert",
        "team-a/pod/solo",
    ]
    assert jobs["num_gpus"].tolist() == [4, 1, 32, 4, 2]
    assert jobs["duration_s"].tolist() == [7140.0, 3600.0, 2400.0, 3600.0, 3600.0]
    assert jobs["queue_s"].tolist() == [60.0, 120.0, 1200.0, 180.0, 1800.0]
    assert jobs["state"].tolist() == ["completed", "timeout", "cancelled", "completed", "completed"]
    assert jobs["attempts"].tolist()[1:3] == [3.0, 3.0]
    assert jobs["attempts"].isna().tolist() == [True, False, False, True, False]
    assert jobs["gpu_type"].tolist()[3] == "A100"
    assert jobs["user"].tolist()[0] == "ann"
    assert jobs["user"].isna().tolist()[1:] == [True] * 4
    assert set(jobs["virtual_cluster"]) == {"team-a"}
    assert (jobs["cpus"].iloc[0], jobs["memory_bytes"].iloc[0]) == (1.0, 128 * GIB)
    assert math.isnan(jobs["cpus"].iloc[1])
    assert jobs["line"].tolist() == [2, 3, 4, 5, 10]
    assert (trace.format, trace.began) == ("kubernetes", "2024-03-01T10:00:00+00:00")


def test_what_is_left_out_is_counted_and_said(tmp_path: Path) -> None:
    trace = read(tmp_path, *ITEMS)
    assert trace.left_out == {
        "drop-other-kinds": 1,
        "drop-owned": 2,
        "drop-without-gpus": 1,
        "drop-unfinished": 1,
    }
    assert trace.read == len(ITEMS) == len(trace.jobs) + sum(trace.left_out.values())
    assert trace.notes == (
        "kinds that are not read: Deployment 1",
        "parts of what the file lacks or what is no job: of ReplicaSet 1",
        "jobs without pods in the file, with their controllers' starts: 3",
    )


def test_a_job_starts_with_the_first_of_its_pods(tmp_path: Path) -> None:
    first = pod("tune-1", ownerReferences=controlled_by("Job", "tune"))
    later = changed(first, "status.startTime", at("10:45"))
    trace = read(tmp_path, later, BATCH, first)
    assert trace.jobs["job"].tolist() == ["team-a/job/tune"]
    assert trace.jobs["queue_s"].tolist() == [1800.0]
    assert trace.jobs["duration_s"].tolist() == [5400.0]
    assert trace.notes == ()


def test_a_job_that_ended_before_it_started_is_left_out(tmp_path: Path) -> None:
    backwards = changed(pod("b"), "status.startTime", at("11:31"))
    assert read(tmp_path, pod("a"), backwards).left_out == {"drop-negative-duration": 1}


def test_a_set_of_jobs_starts_with_the_pods_of_its_jobs(tmp_path: Path) -> None:
    template = {"spec": {"parallelism": 2, "template": {"spec": pod_spec(container(4))}}}
    whole = described(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "set",
        {"replicatedJobs": [{"replicas": 3, "template": template}]},
        {"conditions": [condition("Completed", "12:00")]},
    )
    part = changed(BATCH, "metadata.ownerReferences", controlled_by("JobSet", "set"))
    trace = read(tmp_path, whole, part, pod("p", ownerReferences=controlled_by("Job", "tune")))
    assert trace.jobs["num_gpus"].tolist() == [24]
    assert trace.jobs["queue_s"].tolist() == [1800.0]
    assert read(tmp_path, whole, part).jobs["queue_s"].tolist() == [60.0]


def test_what_a_cron_job_makes_is_a_job(tmp_path: Path) -> None:
    made = changed(BATCH, "metadata.ownerReferences", controlled_by("CronJob", "nightly"))
    assert len(read(tmp_path, made).jobs) == 1


def test_init_containers_and_sidecars_count_where_they_add(tmp_path: Path) -> None:
    item = pod("solo", 1)
    sidecar = container(1) | {"restartPolicy": "Always"}
    for starts, gpus in (([container(4)], 4), ([sidecar], 2), ([sidecar, container(4)], 5)):
        with_starts = changed(item, "spec.initContainers", starts)
        assert read(tmp_path, with_starts).jobs["num_gpus"].tolist() == [gpus]


def test_slices_and_other_makes_of_gpus(tmp_path: Path) -> None:
    path = "spec.containers.0.resources.limits"
    slices = {"nvidia.com/mig-1g.5gb": 2, "nvidia.com/mig-2g.10gb": "1"}
    trace = read(tmp_path, changed(pod("a"), path, slices))
    assert trace.jobs["num_gpus"].tolist() == [3]
    assert trace.jobs["gpu_type"].tolist() == ["mig-1g.5gb+mig-2g.10gb"]
    assert trace.notes == ("jobs with slices of GPUs, each of which counts as one GPU: 1",)
    assert read(tmp_path, changed(pod("a"), path, {"amd.com/gpu": 8})).jobs["num_gpus"][0] == 8


@pytest.mark.parametrize(
    ("reason", "state"),
    [("OOMKilled", "out-of-memory"), ("Evicted", "cancelled"), ("Error", "failed")],
)
def test_why_a_pod_failed(tmp_path: Path, reason: str, state: str) -> None:
    failed = changed(pod("a"), "status.phase", "Failed")
    failed = changed(failed, "status.containerStatuses.0.state.terminated.reason", reason)
    assert read(tmp_path, failed).jobs["state"].tolist() == [state]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4.0),
        ("500m", 0.5),
        ("64Gi", 64 * GIB),
        ("1.5k", 1500.0),
        ("1e3", 1000.0),
        ("2E", 2e18),
        (".5M", 5e5),
        ("", math.nan),
        ("Gi", math.nan),
        ("1 Gi", math.nan),
        ("1KB", math.nan),
    ],
)
def test_quantities(text: str, value: float) -> None:
    found = quantity(text)
    assert math.isnan(found) if math.isnan(value) else found == value


@pytest.mark.parametrize("form", ["json", "gzip", "mark", "yaml", "old yaml"])
def test_forms_of_a_file(tmp_path: Path, form: str) -> None:
    file = write(tmp_path, *ITEMS)
    expected = read_kubernetes(file).jobs.drop(columns="line")
    document = json.loads(file.read_text())
    as_yaml = yaml.safe_dump(document)
    data = {
        "json": json.dumps(document, indent=4).encode(),
        "gzip": gzip.compress(file.read_bytes()),
        "mark": b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"),
        "yaml": as_yaml.encode(),
        "old yaml": as_yaml.replace("'2024-03-01T10:00:00Z'", "2024-03-01T10:00:00Z").encode(),
    }
    file.write_bytes(data[form])
    trace = read_kubernetes(file)
    assert trace.jobs.drop(columns="line").equals(expected)


@pytest.mark.parametrize(
    ("path", "value", "key"),
    [
        ("metadata.name", None, "items[1].metadata.name"),
        ("metadata.name", 7, "items[1].metadata.name"),
        ("metadata.creationTimestamp", None, "items[1].metadata.creationTimestamp"),
        (
            "metadata.creationTimestamp",
            "2024-03-01T10:00:00",
            "items[1].metadata.creationTimestamp",
        ),
        (
            "metadata.creationTimestamp",
            "0001-01-01T00:00:00+14:00",
            "items[1].metadata.creationTimestamp",
        ),
        ("metadata.ownerReferences", {}, "items[1].metadata.ownerReferences"),
        ("status.startTime", "soon", "items[1].status.startTime"),
        ("status.phase", "Lost", "items[1].status.phase"),
        (
            "status.containerStatuses.0.restartCount",
            -1,
            "items[1].status.containerStatuses[0].restartCount",
        ),
        (
            "status.containerStatuses.0.restartCount",
            True,
            "items[1].status.containerStatuses[0].restartCount",
        ),
        ("spec.containers", "one", "items[1].spec.containers"),
        ("spec", [], "items[1].spec"),
    ],
)
def test_a_bad_part_is_refused_by_line_and_key(
    tmp_path: Path, path: str, value: object, key: str
) -> None:
    error = refusal(tmp_path, pod("a"), changed(pod("b"), path, value))
    assert (error.line, error.key) == (3, key)


@pytest.mark.parametrize("amount", ["-1", "two", True, [], "1e999", 0.5])
def test_a_bad_amount_of_gpus_is_refused(tmp_path: Path, amount: object) -> None:
    path = "spec.containers.0.resources.limits"
    error = refusal(tmp_path, changed(pod("a"), path, {"nvidia.com/gpu": amount}))
    assert error.line == 2
    assert error.key is not None
    assert "resources" in error.key


def test_a_rule_that_is_off_refuses_what_a_trace_cannot_hold(tmp_path: Path) -> None:
    assert refusal(tmp_path, OTHER, drop_other_kinds=False).key == "items[0].kind"
    assert refusal(tmp_path, MPI, drop_unfinished=False).key == "status"
    assert refusal(tmp_path, pod("none", 0), drop_without_gpus=False).key == "resources"
    parts = read(tmp_path, BATCH, SERVICE, drop_owned=False)
    assert parts.jobs["job"].tolist() == ["team-a/job/tune", "team-a/pod/web-1"]
    twice = refusal(tmp_path, pod("a"), pod("a"))
    assert (twice.line, twice.key) == (3, "metadata.name")


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"items": []}',
        '{"items": {"a": {}}}',
        '{"items": [4]}',
        '{"items": [{}',
        "[1]",
        "",
        "items: 4",
        "items: [a]",
        "a: [",
    ],
)
def test_what_is_no_list_of_objects_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "jobs.json"
    file.write_text(text)
    with pytest.raises(BadInputError) as caught:
        read_kubernetes(file)
    assert caught.value.file == file


def test_a_text_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, pod("a"))
    text = yaml.safe_dump(json.loads(file.read_text())).replace("name: a\n", 'name: "\\ud800"\n')
    file.write_text(text)
    with pytest.raises(BadInputError) as caught:
        read_kubernetes(file)
    assert caught.value.key == "items[0].metadata.name"


def test_a_part_of_a_file_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, BATCH)
    with pytest.raises(BadInputError, match="part of the file"):
        read_kubernetes(file, ReadOptions(share=0.5))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_is_damaged_is_refused_as_bad_input(tmp_path: Path, data: st.DataObject) -> None:
    file = write(tmp_path, *ITEMS)
    document = file.read_bytes()
    if data.draw(st.booleans()):
        document = yaml.safe_dump(json.loads(document)).encode()[:2500]
    off = data.draw(st.sets(st.sampled_from([rule.name for rule in RULES])))
    options = ReadOptions(rules=dict.fromkeys(off, False))
    content = data.draw(damaged(document))
    check_read_or_refused(lambda each: read_kubernetes(each, options), file, content)
