"""What no scheduler does is refused before anything runs; an arm runs as it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.experiments.rounds.run import (
    check_arms,
    check_workloads,
    placement_of,
    run_arm,
    run_workload,
)
from harness.experiments.rounds.workload import Workload, build_workload
from harness.leases import EndedLeases
from harness.scheduling.mechanisms import MECHANISMS, PLACEMENTS
from harness.scheduling.policies import POLICIES
from tests.unit.builders import ROUNDS_SCENARIO, edited, line_of
from tests.unit.harness.experiments.rounds.builders import (
    make_arm,
    make_trace,
    read_rounds,
    run_durations,
)
from tests.unit.refusal import refusal_of
from traces.errors import BadInputError
from traces.rounds_scenario import RoundsScenario

TUNE = "scheduler: {mechanism: tune}"


def refusal(scenario: RoundsScenario) -> BadInputError:
    return refusal_of(scenario.file.source.file, check_arms, scenario)


def test_what_is_sound_passes(tmp_path: Path) -> None:
    scenario = read_rounds(tmp_path, ROUNDS_SCENARIO)
    check_arms(scenario)
    check_workloads(scenario)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_that_is_known_passes_with_each_of_its_placements(
    tmp_path: Path, mechanism: str
) -> None:
    for placement in PLACEMENTS[mechanism]:
        scheduler = f"scheduler: {{mechanism: {mechanism}, placement: {placement}}}"
        check_arms(read_rounds(tmp_path, edited(ROUNDS_SCENARIO, TUNE, scheduler)))


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_that_is_known_passes(tmp_path: Path, policy: str) -> None:
    text = edited(ROUNDS_SCENARIO, TUNE, f"scheduler: {{policy: {policy}}}")
    check_arms(read_rounds(tmp_path, text))


IN_AN_ARM = [
    # what the arm says, key of the error in it, problem, what is allowed
    ("scheduler: {policy: fofo}", "scheduler.policy", "'fofo' is not known", ", ".join(POLICIES)),
    ("scheduler: {mechanism: tunes}", "scheduler.mechanism", "'tunes' is not known",
     ", ".join(MECHANISMS)),
    ("scheduler: {placement: best}", "scheduler.placement", "'best' is not known",
     "best-fit, balanced"),
    ("scheduler: {mechanism: greedy, placement: balanced}", "scheduler.placement",
     "'balanced' is not known", "best-fit"),
    ("scheduler: {mechanism: opt, placement: best-fit}", "scheduler.placement",
     "'best-fit' is not known", "super-machine, servers"),
    ("scheduler: {round: 0 s}", "scheduler.round", "a round takes no time", "more than 0 s"),
    ("simulation: {restart: 200 s, checkpoint: 100 s}", "simulation.restart",
     "restart and checkpoint take 300 s, so that jobs which take turns would never progress",
     "less than a round (300 s)"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "key", "problem", "allowed"), IN_AN_ARM, ids=[each[0] for each in IN_AN_ARM]
)
def test_an_unknown_name_is_refused_in_its_arm_with_the_known_ones(
    tmp_path: Path, changes: str, key: str, problem: str, allowed: str
) -> None:
    text = edited(ROUNDS_SCENARIO, TUNE, changes)
    error = refusal(read_rounds(tmp_path, text))
    assert (error.key, error.line) == (f"arms.tune.{key}", line_of(text, changes))
    assert (error.problem, error.allowed) == (problem, allowed)


def test_an_unknown_name_in_the_base_points_there(tmp_path: Path) -> None:
    text = edited(ROUNDS_SCENARIO, "policy: fifo", "policy: lifo")
    error = refusal(read_rounds(tmp_path, text))
    assert (error.key, error.line) == ("scheduler.policy", line_of(text, "policy: lifo"))


def test_opt_gives_out_no_storage(tmp_path: Path) -> None:
    text = edited(ROUNDS_SCENARIO, "gpu_type: v100", "gpu_type: v100\n  storage: 1 GB/s")
    error = refusal(read_rounds(tmp_path, text))
    assert error.key == "arms.opt.scheduler.mechanism"
    assert error.line == line_of(text, "scheduler: {mechanism: opt}")
    assert error.problem == "opt gives out CPUs and memory only"
    assert error.allowed == "a cluster without 'storage'"


def test_the_published_simulator_knows_one_type_of_gpu(tmp_path: Path) -> None:
    more = "gpu_type: v100\n  more: [{servers: 1, gpu_type: k80}]"
    text = edited(ROUNDS_SCENARIO, "gpu_type: v100", more)
    check_arms(read_rounds(tmp_path, text))
    error = refusal(
        read_rounds(tmp_path, edited(text, TUNE, "scheduler: {mechanism: tune-published}"))
    )
    assert error.key == "arms.tune.scheduler.mechanism"
    assert error.problem == "the published simulator knows one type of GPU"
    assert error.allowed == "tune"


FIXED = """\
name: fixed
cluster: {servers: 1}
seeds: 2
workload: {trace: jobs.csv}
"""


UNNAMED = "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,a\n"


def test_a_split_of_a_trace_that_names_every_model_is_not_random(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10,1\n")
    text = edited(FIXED, "{trace: jobs.csv}", "{trace: jobs.csv, split: {image: 1}}")
    assert refusal(read_rounds(tmp_path, text)).key == "seeds"


def test_several_seeds_of_a_workload_in_which_nothing_is_random_are_refused(
    tmp_path: Path,
) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10,1\n")
    error = refusal(read_rounds(tmp_path, FIXED))
    assert (error.key, error.line) == ("seeds", 3)
    assert error.problem == "nothing in this workload is random, so that all seeds are the same"
    assert error.allowed == "seeds: 1, or a workload that is generated or split"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seeds: 2", "seeds: 1"),
        ("{trace: jobs.csv}", "{trace: unnamed.csv, split: {image: 1}}"),
        ("{trace: jobs.csv}", "{generate: {jobs: 2, load: 1}, profiles: none}"),
        ("{trace: jobs.csv}\n",
         "{trace: jobs.csv}\n"
         "arms: {a: {}, b: {workload: {trace: unnamed.csv, split: {image: 1}}}}\n"),
    ],
)  # fmt: skip
def test_but_not_where_one_arm_depends_on_the_seed(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10,1\n")
    (tmp_path / "unnamed.csv").write_text(UNNAMED)
    check_arms(read_rounds(tmp_path, edited(FIXED, old, new)))


def test_a_bad_window_of_any_arm_is_found_before_anything_runs(tmp_path: Path) -> None:
    text = edited(ROUNDS_SCENARIO, TUNE, "measure: {first: 50}")
    scenario = read_rounds(tmp_path, text)
    check_arms(scenario)
    with pytest.raises(BadInputError, match="jobs 50 to 89 should count") as caught:
        check_workloads(scenario)
    error = caught.value
    assert (error.file, error.key) == (tmp_path / "scenario.yaml", "measure.count")
    assert error.line == line_of(text, "count: 40")
    assert error.problem.endswith(" in arm 'tune'")


def test_a_bad_job_is_found_in_the_trace(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10,1\n2,vgg99,0,10,1\n")
    scenario = read_rounds(tmp_path, edited(FIXED, "seeds: 2", "seeds: 1"))
    with pytest.raises(BadInputError, match="'vgg99'") as caught:
        check_workloads(scenario)
    assert (caught.value.file, caught.value.line) == (tmp_path / "jobs.csv", 2)


@pytest.mark.parametrize(
    ("scheduler", "placement"),
    [
        ("{}", "best-fit"),
        ("{mechanism: tune}", "best-fit"),
        ("{mechanism: opt}", "super-machine"),
        ("{mechanism: opt, placement: servers}", "servers"),
        ("{mechanism: tune, placement: balanced}", "balanced"),
    ],
)
def test_a_placement_is_the_one_that_is_named_or_the_first(
    tmp_path: Path, scheduler: str, placement: str
) -> None:
    assert placement_of(make_arm(tmp_path, scheduler=scheduler)) == placement


def test_jobs_run_one_after_the_other_on_one_gpu(tmp_path: Path) -> None:
    """A job joins at the next round; a GPU that is free inside a round is taken at the next."""
    result = run_durations(tmp_path, [25, 10, 17], submit_s=[0, 3, 12])
    assert result.workload.table.start_s.tolist() == [0, 30, 40]
    assert result.workload.table.finish_s.tolist() == [25, 40, 57]
    assert (result.run.rounds, result.run.end_s, result.run.stopped) == (6, 60.0, False)
    assert (result.seed, result.figures) == (1, {})


def test_the_policy_decides_who_comes_first(tmp_path: Path) -> None:
    result = run_durations(tmp_path, [25, 10, 17], scheduler="{policy: srtf, round: 10 s}")
    assert result.workload.table.finish_s.tolist() == [55, 10, 27]


def test_the_guard_against_starvation_is_the_arms(tmp_path: Path) -> None:
    """A long job waits behind short ones that keep coming, until it has waited for long enough."""
    arrivals, durations = [0, *range(0, 100, 10)], [50, *[10] * 10]
    for guard, start_s in (("", 100.0), (", priority_after: 35 s", 50.0)):
        scheduler = f"{{policy: srtf, round: 10 s{guard}}}"
        result = run_durations(tmp_path, durations, submit_s=arrivals, scheduler=scheduler)
        assert result.workload.table.start_s[0] == start_s


def test_time_passes_as_the_arm_says(tmp_path: Path) -> None:
    def finish_s(simulation: str) -> list[float]:
        result = run_durations(tmp_path, [25, 5], simulation=simulation)
        return [float(end_s) for end_s in result.workload.table.finish_s]

    assert finish_s("{}") == [25, 35]
    assert finish_s("{completion: round-end}") == [30, 40]
    assert finish_s("{restart: 2 s}") == [27, 37]
    assert finish_s("{profiling: 10 s}") == [35, 45]


def test_checkpoints_cost_time_where_a_job_goes_on(tmp_path: Path) -> None:
    """Two jobs of 15 s take turns of 10 s on one GPU; each goes on once."""
    for simulation, finish_s in (("{}", [25, 35]), ("{checkpoint: 1 s}", [26, 36])):
        result = run_durations(
            tmp_path, [15, 15], scheduler="{policy: las, round: 10 s}", simulation=simulation
        )
        assert result.workload.table.finish_s.tolist() == finish_s


@pytest.mark.parametrize(("restarts", "finish_s"), [("new-leases", 42), ("all", 46)])
def test_a_change_can_restart_those_that_hold_what_they_held(
    tmp_path: Path, restarts: str, finish_s: float
) -> None:
    """A job of 40 s beside one that comes after 10 s and leaves after 22 s."""
    result = run_durations(
        tmp_path, [40, 10], submit_s=[0, 10], gpus=2,
        simulation=f"{{restart: 2 s, restarts: {restarts}}}",
    )  # fmt: skip
    assert result.workload.table.finish_s.tolist() == [finish_s, 22]


@pytest.mark.parametrize(("progress", "finish_s"), [("continuous", 12), ("whole-iterations", 13)])
def test_a_round_can_hold_whole_iterations_only(
    tmp_path: Path, progress: str, finish_s: float
) -> None:
    """Four iterations of 3 s, of which a round of 10 s holds three."""
    arm = make_arm(
        tmp_path, workload="{trace: jobs.csv, profiles: none}", scheduler="{round: 10 s}",
        simulation=f"{{progress: {progress}}}",
    )  # fmt: skip
    workload = build_workload(arm, make_trace(iterations=[4.0], iteration_s=[3.0]), 1)
    assert run_workload(arm, 1, workload).workload.table.finish_s.tolist() == [finish_s]


def test_mechanisms_that_have_figures_hand_them_on(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10000,1\n2,alexnet,0,10000,1\n")
    arm = make_arm(tmp_path, scheduler="{mechanism: opt}")
    figures = run_arm(arm, 1).figures
    assert figures["opt_solutions"] >= 1
    assert "opt_gap_max" in figures


def test_progress_counts_the_jobs_that_count(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    arm = make_arm(
        tmp_path, workload="{trace: jobs.csv, profiles: none}", measure="{first: 1, count: 2}",
        cluster="{servers: 1, gpus: 1}",
    )  # fmt: skip
    workload = build_workload(arm, make_trace(duration_s=[300.0] * 4), 1)
    run_workload(arm, 1, workload, lambda done, total: told.append((done, total)))
    assert told == [(2, 2)]


def test_a_run_that_is_stopped_keeps_what_it_has(tmp_path: Path) -> None:
    """The person is asked after every decision; least-attained service decides every round."""
    arm = make_arm(
        tmp_path, workload="{trace: jobs.csv, profiles: none}", cluster="{servers: 1, gpus: 1}",
        scheduler="{policy: las, round: 10 s}",
    )  # fmt: skip
    workload = build_workload(arm, make_trace(duration_s=[9000.0, 9000.0]), 1)
    ended: list[tuple[Workload, EndedLeases]] = []
    answers = iter([False] * 255 + [True])
    result = run_workload(
        arm, 7, workload,
        stop=lambda: next(answers), ended=lambda built, rows: ended.append((built, rows)),
    )  # fmt: skip
    assert result.run.stopped
    assert (result.run.decisions, result.run.end_s) == (256, 2560.0)
    assert workload.table.attained_s.sum() == 2560.0
    assert np.isnan(workload.table.finish_s).all()
    assert all(built is workload for built, _ in ended)
    held_s = sum(float((rows.until_s - rows.from_s).sum()) for _, rows in ended)
    assert held_s == 2560.0


def test_an_arm_runs_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,1000,1\n2,gnmt,450,1000,2\n")
    result = run_arm(make_arm(tmp_path), 3)
    # 1,000 iterations of 0.12 s; the second job joins with the round of 300 s after its arrival.
    assert result.workload.table.finish_s == pytest.approx([120.0, 720.0])
    assert result.seed == 3
