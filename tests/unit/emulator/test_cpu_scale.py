"""How the CPUs of a cluster become parts of this box's cores, and a share a loader's work."""

from __future__ import annotations

import pytest

from emulator.cpu_scale import (
    CPU_SHARE,
    CpuScale,
    check_input_pipelines,
    input_work,
    plan_cpu_scale,
)
from emulator.limits.bandwidth import LEAST_CORES, cpu_bandwidth
from emulator.training.pipeline import first_steps
from tests.unit.builders import TOY_COMPUTE_S
from tests.unit.harness.placed_builders import arriving, placed_arm, scheduler_spec
from traces.arm import Arm, Job
from traces.errors import BadInputError
from traces.input_pipeline import Share, find_pipeline
from traces.server_pool import ServerGroup


def image(model: str = "res18") -> Job:
    return arriving("image").model_copy(update={"input_pipeline": find_pipeline(model)})


def divided(job: Job, cpus: float = 10.0, gpus: int = 2) -> Arm:
    return placed_arm(
        [arriving("other"), job],
        scheduler=scheduler_spec(mechanism="tune"),
        resources=ServerGroup(3, gpus, cpus, gpus * 62.5e9),
    )


def test_all_cpus_together_take_a_part_of_the_box() -> None:
    scale = plan_cpu_scale([divided(image()), divided(image(), cpus=4.0)], cores=2)
    assert scale is not None
    assert scale.cpus == 30.0
    assert scale.cpus / scale.divisor == pytest.approx(2 * CPU_SHARE)
    assert "30 CPUs in 30% of 2 cores" in scale.reason
    assert scale.warnings == ()


def test_a_cpu_is_never_more_than_a_core() -> None:
    scale = plan_cpu_scale([divided(image(), cpus=1.0)], cores=64)
    assert scale is not None
    assert scale.divisor == 1.0


def test_without_a_mechanism_there_is_no_scale() -> None:
    assert plan_cpu_scale([placed_arm([image()])], cores=2) is None


def test_a_cpu_that_is_too_small_a_part_is_told() -> None:
    scale = plan_cpu_scale([divided(image(), cpus=40.0)], cores=1)
    assert scale is not None
    (warning,) = scale.warnings
    assert "one CPU is 0.2% of a core" in warning


def test_a_job_that_would_have_to_read_is_refused() -> None:
    scale = CpuScale(divisor=60.0, cpus=36.0, cores=2)
    with pytest.raises(BadInputError, match="what placed jobs read is not emulated") as caught:
        check_input_pipelines(divided(image("m5"), cpus=12.0), scale)
    assert caught.value.key == "workload.jobs.1.input_pipeline"
    check_input_pipelines(divided(image("m5"), cpus=3.0), scale)


@pytest.mark.parametrize(("cpus", "gpus"), [(200.0, 2), (100.0, 200)])
def test_a_share_for_which_the_kernel_has_no_quota_is_refused(cpus: float, gpus: int) -> None:
    """One CPU of 600, and half a CPU of 300."""
    arm = divided(image(), cpus, gpus)
    scale = plan_cpu_scale([arm], cores=1)
    assert scale is not None
    with pytest.raises(BadInputError) as caught:
        check_input_pipelines(arm, scale)
    assert caught.value.key == "cluster.cpus"
    assert "would be 0.05% of one of this box's 1 cores" in caught.value.problem
    assert f"at most {cpus * 3 / 2:g} CPUs" in str(caught.value.allowed)


def test_the_least_share_that_is_taken_is_one_that_the_kernel_keeps() -> None:
    arm = divided(image(), cpus=100.0)
    scale = plan_cpu_scale([arm], cores=1)
    assert scale is not None
    check_input_pipelines(arm, scale)
    assert 1 / scale.divisor == pytest.approx(LEAST_CORES)
    work = input_work(image().with_share(Share(1.0, 62.5e9)), scale)
    assert work is not None
    assert cpu_bandwidth(work.cores).cores == pytest.approx(LEAST_CORES)


@pytest.mark.parametrize(("cpus", "relative"), [(3.0, 1.0), (5.0, 1.53)])
def test_a_loader_takes_as_long_as_predicted(cpus: float, relative: float) -> None:
    """CPU time of a batch over the cores that the quota keeps."""
    scale = plan_cpu_scale([divided(image())], cores=2)
    assert scale is not None
    job = image().with_share(Share(cpus, 62.5e9))
    work = input_work(job, scale)
    assert work is not None
    kept = cpu_bandwidth(work.cores).cores
    taken_s = work.pipeline.items * work.pipeline.cpu_s_per_item / kept
    assert taken_s == pytest.approx(2.4 / relative * TOY_COMPUTE_S, rel=0.001)
    assert taken_s == pytest.approx(job.profile.demand.input_s, rel=0.001)


def test_the_first_batch_is_ready_and_the_next_follows_its_start() -> None:
    scale = plan_cpu_scale([divided(image())], cores=2)
    assert scale is not None
    work = input_work(image().with_share(Share(3.0, 62.5e9)), scale)
    assert work is not None
    steps = first_steps(work.loader)
    assert steps.handed_over == steps.prepared == work.pipeline.items
    assert not steps.may_prepare
    steps.take()
    assert steps.may_prepare


def test_who_waits_for_no_samples_has_no_loader() -> None:
    scale = plan_cpu_scale([divided(image())], cores=2)
    assert scale is not None
    assert input_work(arriving("other").with_share(Share(3.0, 62.5e9)), scale) is None
    assert input_work(image(), scale) is None
