"""The tables of a run directory: their columns, and what must hold between them."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from harness.experiments.rounds import store as store_module
from harness.experiments.rounds.figures import run_document
from harness.experiments.rounds.run import RoundsResult, check_arms, run_arm, run_workload
from harness.experiments.rounds.store import RoundsStore, write_documents
from harness.experiments.rounds.summary import summarise
from harness.experiments.rounds.workload import build_workload
from tests.unit.builders import ROUNDS_SCENARIO, edited
from tests.unit.harness.experiments.rounds.builders import make_arm, make_trace, read_rounds
from traces.rounds_results import JOBS, LEASE_USE, ROUNDS
from traces.rounds_scenario import RoundsArm, RoundsScenario
from traces.run_directory import read_json
from traces.server_pool import ServerPool

HEAD = ROUNDS_SCENARIO[: ROUNDS_SCENARIO.index("arms:")]


def simulate(arms: Sequence[RoundsArm], seeds: Sequence[int], place: Path) -> list[RoundsResult]:
    """Run every arm with every seed, and write the tables to ``place``."""
    place.mkdir()
    results = []
    with RoundsStore(place) as store:
        for arm in arms:
            for seed in seeds:
                result = run_arm(arm, seed, ended=functools.partial(store.add_leases, arm, seed))
                store.add_jobs(result)
                results.append(result)
    return results


def jobs_in(place: Path) -> pd.DataFrame:
    return pd.read_parquet(place / "jobs.parquet")


def leases_in(place: Path) -> pd.DataFrame:
    return pd.read_parquet(place / "rounds.parquet")


def durations_arm(directory: Path, gpus: int = 1, **sections: str) -> RoundsArm:
    """One server, rounds of 10 s."""
    defaults = {
        "cluster": f"{{servers: 1, gpus: {gpus}, cpus: 24, memory: 80 GB}}",
        "workload": "{trace: jobs.csv, profiles: none}",
        "scheduler": "{round: 10 s}",
    }
    return make_arm(directory, **(defaults | sections))


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """Of four jobs on one GPU the first two count, so that the fourth never comes."""
    arm = durations_arm(tmp_path, measure="{count: 2}")
    trace = make_trace(
        duration_s=[25.0, 10.0, 17.0, 5.0], submit_s=[0.0, 3.0, 12.0, 99.0],
        model=["m", None, None, None],
    )  # fmt: skip
    place = tmp_path / "out"
    place.mkdir()
    with RoundsStore(place) as store:
        workload = build_workload(arm, trace, 8)
        ended = functools.partial(store.add_leases, arm, 8)
        store.add_jobs(run_workload(arm, 8, workload, ended=ended))
    return place


def test_the_tables_have_the_columns_that_are_documented(queue: Path) -> None:
    assert pq.read_schema(queue / "jobs.parquet").equals(JOBS)
    assert pq.read_schema(queue / "rounds.parquet").equals(ROUNDS)


def test_so_do_tables_without_a_row(tmp_path: Path) -> None:
    with RoundsStore(tmp_path):
        pass
    for name, schema in (("jobs", JOBS), ("rounds", ROUNDS)):
        table = pq.read_table(tmp_path / f"{name}.parquet")
        assert table.schema.equals(schema)
        assert len(table) == 0


def test_a_job_is_a_row(queue: Path) -> None:
    jobs = jobs_in(queue).set_index("job")
    assert jobs.index.tolist() == ["a", "b", "c", "d"]
    assert set(jobs["arm"]) == {"arm"}
    assert set(jobs["seed"]) == {8}
    assert jobs["submit_s"].tolist() == [0, 3, 12, 99]
    assert jobs["num_gpus"].tolist() == [1, 1, 1, 1]
    assert jobs["iterations"].tolist() == jobs["alone_s"].tolist() == [25, 10, 17, 5]
    assert jobs["attained_s"].tolist() == [25, 10, 0, 0]
    assert jobs["leases"].tolist() == [1, 1, 0, 0]
    assert jobs["counted"].tolist() == [True, True, False, False]
    assert jobs["state"].tolist() == ["finished", "finished", "waiting", "not arrived"]


def test_times_that_there_are_none_of_are_null(queue: Path) -> None:
    table = pq.read_table(queue / "jobs.parquet").to_pydict()
    assert table["start_s"] == [0, 30, None, None]
    assert table["finish_s"] == [25, 40, None, None]
    assert table["jct_s"] == [25, 37, None, None]


def test_a_job_without_a_profile_has_no_model(queue: Path) -> None:
    assert pq.read_table(queue / "jobs.parquet")["model"].to_pylist() == [None] * 4


def test_a_lease_is_a_row(queue: Path) -> None:
    assert pq.read_table(queue / "rounds.parquet").to_pylist() == [
        {
            "arm": "arm", "seed": 8, "job": job, "server": 0, "gpus": 1.0, "cpus": 24.0,
            "memory_bytes": 80e9, "storage_bytes_per_s": 0.0, "from_s": from_s,
            "until_s": until_s, "held_to_fair_share": False, **dict.fromkeys(LEASE_USE.names),
        }
        for job, from_s, until_s in (("a", 0.0, 25.0), ("b", 30.0, 40.0))
    ]  # fmt: skip


def test_a_job_is_given_its_models_name(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10,1\n2,lstm,0,10,3\n")
    simulate([make_arm(tmp_path)], [1], tmp_path / "out")
    assert jobs_in(tmp_path / "out")["model"].tolist() == ["gnmt", "lstm"]


def test_a_job_that_shares_servers_has_a_row_for_each(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10,11\n")
    simulate([make_arm(tmp_path)], [1], tmp_path / "out")
    leases = leases_in(tmp_path / "out")
    assert leases["server"].tolist() == [0, 1]
    assert sorted(leases["gpus"]) == [3, 8]
    assert (leases["cpus"] == 3 * leases["gpus"]).all()
    assert (leases["memory_bytes"] == 62.5e9 * leases["gpus"]).all()


def test_a_job_that_wished_for_more_says_so(tmp_path: Path) -> None:
    """Eight jobs of alexnet, which wish for 12 CPUs each, fill a server; gnmt wishes for less."""
    lines = [f"{number},alexnet,0,1000,1\n" for number in range(8)]
    (tmp_path / "jobs.csv").write_text("".join([*lines, "8,gnmt,0,1000,1\n"]))
    tune, proportional = (
        make_arm(tmp_path, name=name, scheduler=f"{{mechanism: {name}}}")
        for name in ("tune", "proportional")
    )
    simulate([tune, proportional], [1], tmp_path / "out")
    leases = leases_in(tmp_path / "out")
    held = leases[leases["held_to_fair_share"]]
    assert set(held["arm"]) == {"tune"}
    assert len(set(held["job"])) >= 4
    assert "8" not in set(held["job"])
    assert "8" in set(leases["job"])


def test_opt_places_jobs_on_one_machine_that_has_everything(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("1,gnmt,0,10,11\n2,alexnet,0,10,2\n")
    simulate([make_arm(tmp_path, scheduler="{mechanism: opt}")], [1], tmp_path / "out")
    leases = leases_in(tmp_path / "out")
    assert set(leases["server"]) == {-1}
    assert sorted(leases["gpus"]) == [2, 11]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> tuple[RoundsScenario, Path]:
    """Sixty jobs under three mechanisms with two seeds."""
    directory = tmp_path_factory.mktemp("toy")
    scenario = read_rounds(directory, ROUNDS_SCENARIO)
    simulate(scenario.arms, scenario.seeds, directory / "out")
    return scenario, directory / "out"


def test_rows_stand_in_the_order_of_arms_seeds_and_ends(toy: tuple[RoundsScenario, Path]) -> None:
    scenario, place = toy
    order = [(arm.name, seed) for arm in scenario.arms for seed in scenario.seeds]
    for table in (jobs_in(place), leases_in(place)):
        runs = table[["arm", "seed"]].drop_duplicates()
        assert list(runs.itertuples(index=False, name=None)) == order
    for _, leases in leases_in(place).groupby(["arm", "seed"]):
        # A lease is written with the round in which it ended.
        assert (np.diff(np.ceil(leases["until_s"] / 300)) >= 0).all()


def test_many_rows_are_written_in_pieces_and_are_the_same(
    toy: tuple[RoundsScenario, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, place = toy
    monkeypatch.setattr(store_module, "_ROWS_AT_ONCE", 10)
    simulate(scenario.arms[1:2], scenario.seeds, tmp_path / "pieces")
    assert pq.ParquetFile(tmp_path / "pieces" / "rounds.parquet").num_row_groups > 5
    whole = leases_in(place).query("arm == 'tune'").reset_index(drop=True)
    pd.testing.assert_frame_equal(leases_in(tmp_path / "pieces"), whole)


def test_what_was_written_before_an_error_is_kept(tmp_path: Path) -> None:
    arm = durations_arm(tmp_path)
    workload = build_workload(arm, make_trace(duration_s=[5.0, 5.0]), 1)

    def simulate_and_fail() -> None:
        with RoundsStore(tmp_path) as store:
            run_workload(arm, 1, workload, ended=functools.partial(store.add_leases, arm, 1))
            raise KeyError

    with pytest.raises(KeyError):
        simulate_and_fail()
    assert leases_in(tmp_path)["job"].tolist() == ["a", "b"]
    assert len(jobs_in(tmp_path)) == 0


VARIED = [
    # what is scheduled how, on what: (arm, its changes)
    ("proportional", "scheduler: {policy: las}"),
    ("greedy", "scheduler: {mechanism: greedy, policy: srtf}"),
    ("tune", "scheduler: {mechanism: tune, policy: ftf}"),
    ("balanced", "scheduler: {mechanism: tune, placement: balanced, policy: tiresias}"),
    ("published", "scheduler: {mechanism: tune-published, policy: fifo, priority_after: 2 h}"),
    ("storage", "{scheduler: {mechanism: tune, policy: srsf}, cluster: {storage: 200 MB/s}}"),
    ("servers", "scheduler: {mechanism: opt, placement: servers}"),
    ("types", "{scheduler: {policy: las}, workload: {profiles: none, split: {}}, "
     "cluster: {more: [{servers: 1, gpus: 4, gpu_type: k80}]}}"),
    ("stopping", "{scheduler: {policy: las}, simulation: {completion: round-end, restart: 90 s, "
     "checkpoint: 10 s, progress: whole-iterations, profiling: 90 s, restarts: all}}"),
]  # fmt: skip


@pytest.fixture(scope="module")
def varied(tmp_path_factory: pytest.TempPathFactory) -> tuple[RoundsScenario, Path]:
    """Sixty random jobs of 1 to 8 GPUs under many schedulers, with two seeds."""
    directory = tmp_path_factory.mktemp("varied")
    changes = [
        f"  {name}: {text if text.startswith('{') else '{' + text + '}'}\n" for name, text in VARIED
    ]
    text = edited(HEAD, "gpus: single", "gpus: gavel") + "arms:\n" + "".join(changes)
    text = edited(text, "load: 1.0", "load: 2.0")
    text = edited(edited(text, "first: 10", "first: 2"), "count: 40", "count: 6")
    text = edited(text, "round: 300 s", "round: 20 min")
    scenario = read_rounds(directory, text)
    check_arms(scenario)
    simulate(scenario.arms, scenario.seeds, directory / "out")
    return scenario, directory / "out"


def one_row_a_lease(leases: pd.DataFrame) -> pd.DataFrame:
    """arm, seed, job, from_s, until_s and gpus, summed over the servers of a lease."""
    return leases.groupby(["arm", "seed", "job", "from_s"], as_index=False).agg(
        until_s=("until_s", "first"), ends=("until_s", "nunique"), gpus=("gpus", "sum")
    )


def test_leases_tile_the_time_in_which_a_job_held_its_gpus(
    varied: tuple[RoundsScenario, Path],
) -> None:
    _, place = varied
    jobs = jobs_in(place).set_index(["arm", "seed", "job"])
    leases = one_row_a_lease(leases_in(place))
    assert (leases["ends"] == 1).all()
    assert (leases["until_s"] > leases["from_s"]).all()
    by_job = leases.groupby(["arm", "seed", "job"])
    assert (by_job["until_s"].shift() <= leases["from_s"])[by_job.cumcount() > 0].all()

    held = jobs.join(by_job.agg(first_s=("from_s", "min"), last_s=("until_s", "max")))
    held["held_s"] = (leases["until_s"] - leases["from_s"]).groupby(
        [leases["arm"], leases["seed"], leases["job"]]
    ).sum()  # fmt: skip
    held["rows"] = by_job.size()
    served = held["leases"] > 0
    assert 0 < served.sum() < len(jobs)
    assert held.loc[~served, "held_s"].isna().all()
    held = held[served]
    assert (held["rows"] == held["leases"]).all()
    assert held["leases"].max() > 5
    np.testing.assert_allclose(held["held_s"], held["attained_s"], rtol=1e-9)
    assert (held["first_s"] == held["start_s"]).all()
    finished = held[held["state"] == "finished"]
    assert (finished["last_s"] == finished["finish_s"]).all()


def test_a_job_holds_the_gpus_that_it_asks_for(varied: tuple[RoundsScenario, Path]) -> None:
    _, place = varied
    leases = one_row_a_lease(leases_in(place)).merge(jobs_in(place), on=["arm", "seed", "job"])
    np.testing.assert_allclose(leases["gpus"], leases["num_gpus"], rtol=1e-9)


def most_in_use(leases: pd.DataFrame, pool: ServerPool, columns: list[str]) -> pd.DataFrame:
    """The most that is held of ``columns`` at one time, as a share of each server's own."""
    ends = leases.assign(at_s=leases["until_s"], step=-1)
    changes = pd.concat([leases.assign(at_s=leases["from_s"], step=1), ends])
    # What ends at a time makes room for what begins then.
    changes = changes.sort_values(["at_s", "step"], kind="stable")
    steps = changes[columns].mul(changes["step"], axis=0)
    in_use = steps.groupby(changes["server"]).cumsum().groupby(changes["server"]).max()
    resources = np.column_stack([pool.gpus, pool.resources])[in_use.index]
    return in_use.div(np.where(resources > 0, resources, 1.0))


def test_no_server_gives_more_than_it_has(varied: tuple[RoundsScenario, Path]) -> None:
    scenario, place = varied
    columns = ["gpus", "cpus", "memory_bytes", "storage_bytes_per_s"]
    leases = leases_in(place)
    for arm in scenario.arms:
        for seed in scenario.seeds:
            mine = leases[(leases["arm"] == arm.name) & (leases["seed"] == seed)]
            most = most_in_use(mine, arm.pool, columns)
            assert most.to_numpy().max() <= 1 + 1e-9, arm.name
            assert set(most.index) <= set(range(arm.pool.num_servers))
            # At this load, the servers are full at some time.
            assert most["gpus"].max() > 1 - 1e-9, arm.name
            assert most["storage_bytes_per_s"].any() == (arm.name == "storage")


def test_the_states_of_the_jobs_are_those_of_the_run(varied: tuple[RoundsScenario, Path]) -> None:
    scenario, place = varied
    jobs = jobs_in(place)
    finished = jobs["finish_s"].notna()
    assert ((jobs["state"] == "finished") == finished).all()
    assert (jobs["finish_s"] - jobs["submit_s"])[finished].equals(jobs["jct_s"][finished])
    assert (jobs["state"][jobs["counted"]] == "finished").all()
    assert (jobs["counted"].groupby([jobs["arm"], jobs["seed"]]).sum() == 6).all()
    leases = leases_in(place)
    for (arm, seed), mine in jobs.groupby(["arm", "seed"]):
        last_s = leases[(leases["arm"] == arm) & (leases["seed"] == seed)]["until_s"].max()
        running = mine[mine["state"] == "running"]
        assert (running["start_s"] < last_s).all()
        assert mine[mine["state"] == "not arrived"]["start_s"].isna().all()
    assert set(jobs["state"]) == {"finished", "running", "waiting", "not arrived"}
    assert len(jobs) == len(scenario.arms) * 2 * 60


def test_a_job_takes_as_long_as_its_iterations_at_the_fair_share_or_less(
    varied: tuple[RoundsScenario, Path],
) -> None:
    """Nobody is given less than the fair share, and opt and tune give some jobs more."""
    _, place = varied
    jobs = jobs_in(place)
    finished = jobs[(jobs["state"] == "finished") & (jobs["arm"] != "stopping")]
    assert (finished["attained_s"] <= finished["alone_s"] * (1 + 1e-6)).all()
    faster = finished["attained_s"] < finished["alone_s"] * 0.9
    assert faster.groupby(finished["arm"]).any().to_dict() == {
        name: name not in ("proportional", "types") for name, _ in VARIED if name != "stopping"
    }


def test_the_same_scenario_and_seeds_give_the_same_bytes(
    toy: tuple[RoundsScenario, Path], tmp_path: Path
) -> None:
    """Also when the file is read again."""
    _, place = toy
    scenario = read_rounds(tmp_path, ROUNDS_SCENARIO)
    simulate(scenario.arms, scenario.seeds, tmp_path / "again")
    for table in ("jobs.parquet", "rounds.parquet"):
        assert (tmp_path / "again" / table).read_bytes() == (place / table).read_bytes(), table


def test_another_seed_gives_other_jobs_and_leases(toy: tuple[RoundsScenario, Path]) -> None:
    _, place = toy
    for table in (jobs_in(place), leases_in(place)):
        of_seed = {
            seed: rows.drop(columns="seed").reset_index(drop=True)
            for seed, rows in table.groupby("seed")
        }
        assert not of_seed[5].equals(of_seed[6])
    jobs = jobs_in(place)
    for column in ("model", "submit_s", "alone_s", "finish_s"):
        one, other = (jobs[jobs["seed"] == seed][column].tolist() for seed in (5, 6))
        assert one != other, column


def test_all_arms_have_the_same_jobs(toy: tuple[RoundsScenario, Path]) -> None:
    scenario, place = toy
    columns = ["seed", "job", "model", "num_gpus", "iterations", "alone_s", "submit_s", "counted"]
    jobs = jobs_in(place)
    first, *others = (
        jobs[jobs["arm"] == arm.name][columns].reset_index(drop=True) for arm in scenario.arms
    )
    for other in others:
        pd.testing.assert_frame_equal(other, first)


def test_the_documents_beside_the_tables(tmp_path: Path) -> None:
    text = ROUNDS_SCENARIO + (
        "  bare:\n    workload: {profiles: none, split: {}}\n    simulation: {restart: 3 s}\n"
    )
    scenario = read_rounds(tmp_path, text)
    place = tmp_path / "out"
    runs = [(arm, [run_document(run_arm(arm, 5))]) for arm in (scenario.arms[0], scenario.arms[3])]
    place.mkdir()
    summary = summarise(scenario, runs, interrupted=True)
    write_documents(place, scenario, summary)
    assert {each.name for each in place.iterdir()} == {
        "scenario.yaml", "provenance.json", "summary.json"
    }  # fmt: skip
    assert (place / "scenario.yaml").read_text(encoding="utf-8") == text
    assert read_json(place / "summary.json") == json.loads(json.dumps(summary))
    origin = read_json(place / "provenance.json")
    assert origin["seed"] == 5
    assert [words.partition(",")[0] for words in origin["workloads"]] == ["Philly-derived jobs"] * 2
    assert origin["profiles"]["tune"].startswith("Ten models as published")
    assert origin["profiles"]["bare"] == "none"
    assert origin["simulation"]["tune"]["restart"] == 0
    assert origin["simulation"]["bare"]["restart"] == 3
