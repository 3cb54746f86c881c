"""Jobs get models and iterations, those that count are chosen, and what cannot run is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.experiments.rounds.workload import Refusal, build_workload, is_random, trace_of
from tests.unit.harness.experiments.rounds.builders import make_arm, make_trace, write_profiles
from traces.errors import BadInputError
from traces.generators.philly_derived import jobs_per_hour_at, philly_derived
from traces.rounds_scenario import RoundsArm
from traces.sensitivity import builtin_sensitivities

SYNERGY = builtin_sensitivities("synergy")
SPLIT = "{trace: jobs.csv, split: {image: 20, language: 70, speech: 10}}"
NO_PROFILES = "{trace: jobs.csv, profiles: none}"
MINE = "{trace: jobs.csv, profiles: mine.json}"
TWO_TYPES = "{servers: 1, gpu_type: a1, more: [{servers: 3, gpu_type: b2}]}"


def refusal(arm: RoundsArm, **columns: object) -> BadInputError:
    with pytest.raises(BadInputError) as caught:
        build_workload(arm, make_trace(**columns), 1)
    return caught.value


def models_of(arm: RoundsArm, seed: int = 1, **columns: object) -> list[str]:
    return build_workload(arm, make_trace(**columns), seed).jobs["model"].tolist()


def test_only_jobs_without_a_model_are_given_one(tmp_path: Path) -> None:
    named = ["gnmt", None, "res50", None] * 10
    found = models_of(make_arm(tmp_path, workload=SPLIT), model=named, iterations=[5.0] * 40)
    assert found[::4] == ["gnmt"] * 10
    assert found[2::4] == ["res50"] * 10
    assert len(set(found[1::2])) > 2
    assert set(found) <= set(SYNERGY.models)


def test_the_seed_decides_which_models_they_get(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, workload=SPLIT)
    assert models_of(arm, 1, duration_s=[5.0] * 40) == models_of(arm, 1, duration_s=[5.0] * 40)
    assert models_of(arm, 1, duration_s=[5.0] * 40) != models_of(arm, 2, duration_s=[5.0] * 40)


def test_a_job_has_the_same_model_in_arms_whose_clusters_leave_out_other_jobs(
    tmp_path: Path,
) -> None:
    trace = make_trace(duration_s=[5.0] * 40, num_gpus=[1, 9, 1, 17] * 10)
    found = {}
    for servers in (1, 2, 3):
        arm = make_arm(tmp_path, workload=SPLIT, cluster=f"{{servers: {servers}}}")
        jobs = build_workload(arm, trace, 1).jobs
        found[servers] = dict(zip(jobs["job"], jobs["model"], strict=True))
    assert [len(models) for models in found.values()] == [20, 30, 40]
    assert found[1].items() <= found[2].items() <= found[3].items()


def test_models_that_a_trace_names_need_no_split(tmp_path: Path) -> None:
    assert models_of(make_arm(tmp_path), model=["lstm", "m5"], iterations=[1.0, 2.0]) == [
        "lstm", "m5"
    ]  # fmt: skip


def test_iterations_are_those_of_the_trace_where_it_has_them(tmp_path: Path) -> None:
    trace = make_trace(
        model=["gnmt", "gnmt", "alexnet"],
        iterations=[1000.0, np.nan, 7.0],
        duration_s=[np.nan, 60.0, 9999.0],
    )
    workload = build_workload(make_arm(tmp_path), trace, 1)
    # An iteration of gnmt takes 0.12 s at the fair share of 3 CPUs and 62.5 GB, of alexnet 0.6 s.
    assert workload.table.iterations.tolist() == [1000.0, 500.0, 7.0]
    assert workload.alone_s == pytest.approx([120.0, 60.0, 4.2])


@pytest.mark.parametrize("cpus", [8, 24, 48, 96])
def test_a_duration_is_one_at_the_fair_share_of_this_cluster(tmp_path: Path, cpus: int) -> None:
    arm = make_arm(tmp_path, cluster=f"{{servers: 2, cpus: {cpus}}}")
    workload = build_workload(arm, make_trace(model=["alexnet"], duration_s=[36000.0]), 1)
    throughput = SYNERGY.of("alexnet", "v100").at(cpus / 8, 62.5e9)
    assert workload.table.iterations[0] == round(36000 * throughput / 0.6)
    assert workload.alone_s[0] == pytest.approx(36000, rel=1e-4)


def test_no_job_is_shorter_than_an_iteration(tmp_path: Path) -> None:
    trace = make_trace(model=["gnmt", "gnmt"], duration_s=[0.001, 0.19])
    workload = build_workload(make_arm(tmp_path), trace, 1)
    assert workload.table.iterations.tolist() == [1.0, 2.0]


def test_where_there_are_several_types_the_fair_share_is_that_of_the_fastest(
    tmp_path: Path,
) -> None:
    write_profiles(tmp_path, ("m", "a1", 2.0), ("m", "b2", 0.5), ("n", "a1", 4.0))
    arm = make_arm(tmp_path, workload=MINE, cluster=TWO_TYPES)
    workload = build_workload(arm, make_trace(model=["m", "n"], duration_s=[100.0, 100.0]), 1)
    assert workload.table.iterations.tolist() == [200.0, 25.0]
    assert workload.alone_s.tolist() == [100.0, 100.0]


def test_without_profiles_a_job_takes_the_time_that_the_trace_says(tmp_path: Path) -> None:
    trace = make_trace(
        model=["anything", None, "x", "x"],
        iterations=[10.0, np.nan, 8.0, 3.0],
        iteration_s=[2.0, np.nan, 0.25, np.nan],
        duration_s=[999.0, 77.5, np.nan, 6.0],
        num_gpus=[1, 2, 2, 1],
    )
    workload = build_workload(make_arm(tmp_path, workload=NO_PROFILES), trace, 1)
    # Where iterations and their time are known they count; else the duration, in iterations of 1 s.
    assert workload.alone_s.tolist() == [20.0, 77.5, 2.0, 6.0]
    assert workload.table.iterations.tolist() == [10.0, 77.5, 8.0, 6.0]
    assert workload.table.num_gpus.tolist() == [1, 2, 2, 1]
    assert not workload.demands.above_fair.any()


def test_without_profiles_iterations_alone_say_nothing(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, workload=NO_PROFILES)
    error = refusal(arm, iterations=[5.0, 6.0], duration_s=[1.0, np.nan], line=[3, 8])
    assert (error.file, error.line) == (tmp_path / "jobs.csv", 8)
    assert error.problem == "job 'b' has iterations, and nothing says how long one takes"
    assert "durations or iteration times, or profiles" in error.allowed


def test_jobs_that_ask_for_too_much_are_left_out_and_counted_with_their_lines(
    tmp_path: Path,
) -> None:
    trace = make_trace(
        duration_s=np.arange(1.0, 10.0), num_gpus=[16, 17, 1, 99, 20, 30, 40, 50, 16],
        line=[4, 5, 6, 7, 8, 9, 10, 11, 12],
    )  # fmt: skip
    workload = build_workload(make_arm(tmp_path, workload=NO_PROFILES), trace, 1)
    assert workload.refusals == (
        Refusal(
            "asks for more than the 16 GPUs of one type that it can run on", 6,
            "lines 5, 7, 8, 9, 10, ...",
        ),
    )  # fmt: skip
    assert workload.jobs["job"].tolist() == ["a", "c", "i"]
    assert workload.table.num_gpus.tolist() == [16, 1, 16]
    assert workload.alone_s.tolist() == [1.0, 3.0, 9.0]
    assert len(workload.trace.jobs) == 9


def test_one_job_that_is_left_out_stands_on_one_line(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, workload=NO_PROFILES)
    workload = build_workload(arm, make_trace(duration_s=[1.0, 1.0], num_gpus=[17, 1]), 1)
    assert [(each.count, each.where) for each in workload.refusals] == [(1, "line 1")]


def test_generated_jobs_that_are_left_out_have_no_line(tmp_path: Path) -> None:
    generate = "{generate: {jobs: 200, load: 1, gpus: gavel}, split: {image: 1}}"
    arm = make_arm(tmp_path, workload=generate, cluster="{servers: 1, gpus: 2}")
    (left_out,) = build_workload(arm, trace_of(arm, 1), 1).refusals
    assert left_out.where == "generated, ..."
    large = (trace_of(arm, 1).jobs["num_gpus"] > 2).sum()
    assert left_out.count == large > 0


def test_nothing_is_left_out_where_all_fit(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, workload=NO_PROFILES)
    assert build_workload(arm, make_trace(duration_s=[1.0], num_gpus=[16]), 1).refusals == ()


def test_a_job_runs_on_one_type_of_gpu_only(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, workload=NO_PROFILES, cluster=TWO_TYPES)
    workload = build_workload(arm, make_trace(duration_s=[1.0] * 3, num_gpus=[8, 24, 25]), 1)
    (left_out,) = workload.refusals
    assert (left_out.count, left_out.where) == (1, "line 3")
    assert "the 24 GPUs of one type" in left_out.reason


def test_and_only_on_a_type_that_its_model_has_a_profile_for(tmp_path: Path) -> None:
    write_profiles(tmp_path, ("both", "a1", 1.0), ("both", "b2", 1.0), ("small", "a1", 1.0))
    arm = make_arm(tmp_path, workload=MINE, cluster=TWO_TYPES)
    models = ["both", "small", "both", "small", "both"]
    trace = make_trace(model=models, iterations=[9.0] * 5, num_gpus=[24, 8, 25, 9, 1])
    workload = build_workload(arm, trace, 1)
    assert workload.jobs["job"].tolist() == ["a", "b", "e"]
    assert [(each.count, each.where) for each in workload.refusals] == [
        (1, "line 4"), (1, "line 3")
    ]  # fmt: skip
    assert ["the 8 GPUs" in each.reason for each in workload.refusals] == [True, False]


@pytest.mark.parametrize(
    ("measure", "counts"),
    [
        ("{}", "abcdef"),
        ("{first: 2}", "cdef"),
        ("{count: 2}", "ab"),
        ("{first: 1, count: 3}", "bcd"),
        ("{first: 5, count: 1}", "f"),
    ],
)
def test_those_count_that_the_window_says_in_order_of_submission(
    tmp_path: Path, measure: str, counts: str
) -> None:
    arm = make_arm(tmp_path, workload=NO_PROFILES, measure=measure)
    late_first = [50.0, 40.0, 30.0, 20.0, 10.0, 0.0]
    trace = make_trace(duration_s=[1.0] * 6, submit_s=late_first, job=list("fedcba"))
    workload = build_workload(arm, trace, 1)
    assert workload.jobs["job"][workload.measured].tolist() == list(counts)


def test_jobs_that_are_left_out_keep_their_places_in_the_window(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, workload=NO_PROFILES, measure="{first: 1, count: 3}")
    trace = make_trace(duration_s=[1.0] * 6, num_gpus=[99, 1, 99, 1, 1, 1])
    workload = build_workload(arm, trace, 1)
    assert workload.jobs["job"][workload.measured].tolist() == ["b", "d"]


@pytest.mark.parametrize(
    ("measure", "key", "problem"),
    [
        ("{first: 6}", "measure.first", "job 6 should count, but the trace has 6 jobs"),
        ("{first: 9, count: 1}", "measure.first", "job 9 should count, but the trace has 6 jobs"),
        ("{count: 7}", "measure.count", "jobs 0 to 6 should count, but the trace has 6 jobs"),
        ("{first: 4, count: 3}", "measure.count", "jobs 4 to 6 should count, but the trace has 6"),
    ],
)
def test_a_window_beyond_the_trace_is_refused(
    tmp_path: Path, measure: str, key: str, problem: str
) -> None:
    error = refusal(make_arm(tmp_path, workload=NO_PROFILES, measure=measure), duration_s=[1.0] * 6)
    assert error.key == key
    assert error.problem.startswith(problem)
    assert error.allowed == "jobs 0 to 5"


def test_a_window_of_jobs_that_are_all_left_out_is_refused(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, workload=NO_PROFILES, measure="{count: 2}")
    error = refusal(arm, duration_s=[1.0] * 3, num_gpus=[99, 99, 1])
    assert (error.key, error.problem) == ("measure", "no job that counts can run")


def test_rounds_of_whole_iterations_must_hold_one(tmp_path: Path) -> None:
    write_profiles(tmp_path, ("quick", "v100", 0.5), ("slow", "v100", 3.0))
    columns = {"model": ["quick", "slow"], "iterations": [5.0, 5.0]}

    def arm(round_s: float, progress: str) -> RoundsArm:
        simulation = f"{{progress: {progress}}}"
        scheduler = f"{{round: {round_s} s}}"
        return make_arm(tmp_path, workload=MINE, simulation=simulation, scheduler=scheduler)

    error = refusal(arm(2.9, "whole-iterations"), **columns)
    assert error.key == "simulation.progress"
    assert error.problem == "an iteration takes 3 s, longer than a round"
    assert error.allowed == "longer rounds, or progress: continuous"
    for round_s, progress in ((3.0, "whole-iterations"), (2.9, "continuous")):
        assert len(build_workload(arm(round_s, progress), make_trace(**columns), 1).table) == 2


def test_only_the_models_of_the_jobs_that_run_must_fit_into_a_round(tmp_path: Path) -> None:
    write_profiles(tmp_path, ("quick", "v100", 0.5), ("slow", "v100", 3.0))
    arm = make_arm(
        tmp_path, workload=MINE, simulation="{progress: whole-iterations}",
        scheduler="{round: 1 s}",
    )  # fmt: skip
    trace = make_trace(model=["quick", "slow"], iterations=[5.0, 5.0], num_gpus=[1, 99])
    assert len(build_workload(arm, trace, 1).table) == 1


def test_a_model_without_a_profile_is_refused_with_file_line_and_the_known_ones(
    tmp_path: Path,
) -> None:
    arm = make_arm(tmp_path)
    models = ["gnmt", "gnmt", "vgg99", "other"]
    error = refusal(arm, model=models, iterations=[1.0] * 4, line=[2, 3, 5, 6])
    assert (error.file, error.line) == (tmp_path / "jobs.csv", 5)
    assert error.problem == "job 'c' trains 'vgg99', of which there is no profile on v100"
    assert error.allowed == ", ".join(sorted(SYNERGY.models))


def test_a_profile_on_another_type_of_gpu_is_none(tmp_path: Path) -> None:
    write_profiles(tmp_path, ("here", "v100", 1.0), ("there", "a100", 1.0))
    error = refusal(make_arm(tmp_path, workload=MINE), model=["there"], iterations=[1.0])
    assert error.problem == "job 'a' trains 'there', of which there is no profile on v100"
    assert error.allowed == "here"


def test_generated_jobs_without_a_profile_point_at_the_profiles(tmp_path: Path) -> None:
    arm = make_arm(
        tmp_path, cluster="{servers: 1, gpu_type: k80}",
        workload="{generate: {jobs: 3, load: 1}, split: {image: 1}}",
    )  # fmt: skip
    with pytest.raises(BadInputError, match="no profile on k80") as caught:
        build_workload(arm, trace_of(arm, 1), 1)
    assert (caught.value.file, caught.value.line) == (None, None)
    assert caught.value.key == "workload.profiles"
    assert caught.value.allowed == "profiles for the cluster's types of GPU"


def test_a_model_that_would_never_progress_is_refused(tmp_path: Path) -> None:
    """Where less memory than its profile needs is a fair share."""
    write_profiles(tmp_path, ("m", "v100", 1.0), needs_memory=True)
    enough = make_arm(tmp_path, workload=MINE)
    columns = {"model": ["m"], "iterations": [10.0]}
    assert build_workload(enough, make_trace(**columns), 1).alone_s.tolist() == [10.0]
    too_little = make_arm(tmp_path, workload=MINE, cluster="{servers: 2, memory: 80 GB}")
    error = refusal(too_little, **columns)
    assert error.key == "cluster"
    assert error.problem.startswith("the model 'm' does not progress with its fair share")
    assert "servers with more CPUs or memory" in error.allowed


def test_a_job_without_a_model_is_refused_where_there_is_no_split(tmp_path: Path) -> None:
    error = refusal(make_arm(tmp_path), model=["gnmt", None], duration_s=[1.0, 2.0], line=[7, 9])
    assert (error.file, error.line) == (tmp_path / "jobs.csv", 9)
    assert error.problem == "job 'b' has no model"
    assert "'split'" in error.allowed
    assert "profiles: none" in error.allowed


def test_two_point_speeds_need_a_ratio_that_was_published(tmp_path: Path) -> None:
    columns = {"model": ["alexnet"], "iterations": [100.0]}
    two_points = "{speeds: two-point}"
    published = make_arm(tmp_path, simulation=two_points, cluster="{servers: 1, cpus: 32}")
    workload = build_workload(published, make_trace(**columns), 1)
    assert workload.alone_s == pytest.approx([48.0])  # 0.48 s at 4 CPUs per GPU
    other = make_arm(tmp_path, simulation=two_points, cluster="{servers: 1, cpus: 16}")
    error = refusal(other, **columns)
    assert error.key == "simulation.speeds"
    assert "no two_point of alexnet at 2 CPUs per GPU; known: 3, 4, 5, 6" in error.problem
    assert "speeds: matrix" in error.allowed


def test_new_jobs_are_profiled_before_they_may_run(tmp_path: Path) -> None:
    arm = make_arm(tmp_path, workload=NO_PROFILES, simulation="{profiling: 2 min}")
    table = build_workload(arm, make_trace(duration_s=[1.0, 1.0], submit_s=[0.0, 7.0]), 1).table
    assert table.submit_s.tolist() == [0.0, 7.0]
    assert table.ready_s.tolist() == [120.0, 127.0]


@pytest.mark.parametrize(
    ("workload", "random"),
    [
        ("{trace: jobs.csv}", False),
        (NO_PROFILES, False),
        (SPLIT, True),
        ("{generate: {jobs: 1, load: 1}, profiles: none}", True),
    ],
)
def test_whether_a_seed_matters(tmp_path: Path, workload: str, random: bool) -> None:
    (tmp_path / "jobs.csv").write_text(
        "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,a\n"
    )
    assert is_random(make_arm(tmp_path, workload=workload)) is random


def test_a_load_is_turned_into_arrivals_on_this_cluster(tmp_path: Path) -> None:
    for servers in (1, 3):
        arm = make_arm(
            tmp_path, cluster=f"{{servers: {servers}, gpus: 4}}",
            workload="{generate: {jobs: 30, load: 0.8, gpus: gavel}, split: {image: 1}}",
        )  # fmt: skip
        rate = jobs_per_hour_at(0.8, servers * 4, "gavel")
        expected = philly_derived(30, rate, "gavel", {"image": 1.0}, SYNERGY, 9)
        assert trace_of(arm, 9).jobs.equals(expected.jobs)
        assert trace_of(arm, 9).source == expected.source


def test_arrivals_by_the_hour_are_taken_as_they_are(tmp_path: Path) -> None:
    generate = "{generate: {jobs: 30, jobs_per_hour: 3.5}, profiles: none}"
    for servers in (1, 3):
        arm = make_arm(tmp_path, workload=generate, cluster=f"{{servers: {servers}}}")
        assert trace_of(arm, 2).jobs.equals(philly_derived(30, 3.5, "single", {}, None, 2).jobs)


def test_a_trace_is_read_in_the_format_that_is_named_or_found(tmp_path: Path) -> None:
    for workload in ("{trace: some.csv}", "{trace: some.csv, format: synergy}"):
        (tmp_path / "some.csv").write_text("5,gnmt,3,8,2\n")
        trace = trace_of(make_arm(tmp_path, workload=workload), 1)
        assert trace.format == "synergy"
        assert trace.jobs["job"].tolist() == ["5"]
    arm = make_arm(tmp_path, workload="{trace: some.csv, format: muri}")
    with pytest.raises(BadInputError) as caught:
        trace_of(arm, 1)
    assert (caught.value.file, caught.value.line) == (tmp_path / "some.csv", 1)
