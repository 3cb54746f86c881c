"""Tests on the real kernel: namespaces, cgroups, tc. Without root they skip and say so."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from netshaper.run_state import STATE_DIRECTORY_VARIABLE


def _why_not() -> str | None:
    if os.geteuid() != 0:
        return "needs root"
    try:
        probe = ("unshare", "--net", "true")
        done = subprocess.run(probe, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "needs unshare of util-linux"
    return None if done.returncode == 0 else f"cannot make namespaces: {done.stderr.strip()}"


_REASON = _why_not()

_SHARES_THE_BOX = {
    "test_bad_machine.py",
    "test_cassini_snapshots.py",
    "test_command_jobs.py",
    "test_emulated_servers.py::test_a_hung_worker_is_given_up",
    "test_emulated_servers.py::test_a_job_on_two_servers_does_its_steps_together",
    "test_emulated_servers.py::test_a_killed_input_pipeline_is_noticed",
    "test_emulated_servers.py::test_a_killed_worker_loses_its_round_and_nothing_else",
    "test_emulated_servers.py::test_an_emptied_cgroup_is_a_lost_worker",
    "test_emulated_servers.py::test_workers_of_a_killed_controller_end_and_clean_removes_the_rest",
    "test_emulated_sweep.py",
    "test_killed_at_every_step.py",
    "test_leaves_nothing.py",
    "test_network_counters.py::test_a_job_that_fails_is_an_error_with_its_last_words",
    "test_network_counters.py::test_an_interrupt_keeps_what_was_counted_and_ends_the_job",
    "test_network_counters.py::test_what_a_job_leaves_behind_is_ended",
    "test_own_commands.py::test_one_that_does_not_exist_is_reported",
    "test_own_commands.py::test_one_that_fails_is_reported_with_what_it_said",
    "test_own_commands.py::test_one_that_takes_too_much_memory_ends_and_no_other",
    "test_plan.py",
    "test_profiler_limits.py::test_a_cache_fits_the_memory_of_its_group",
    "test_profiler_limits.py::test_a_quota_above_is_told",
    "test_profiler_limits.py::test_clean_ends_the_training_of_a_killed_profiler",
    "test_profiler_limits.py::test_memory_is_told_apart_and_storage_is_counted",
    "test_profiler_limits.py::test_the_guard_is_put_where_it_fits_and_ends_who_goes_beyond",
    "test_profiler_limits.py::test_two_profiles_do_not_share_an_id_and_the_second_harms_nothing",
    "test_resumed_rounds.py",
    "test_rootless.py",
    "test_rounds_scenario.py::test_a_killed_run_is_resumed_and_nothing_counts_twice",
    "test_rounds_scenario.py::test_a_recorded_schedule_is_replayed",
    "test_rounds_scenario.py::test_an_interrupt_keeps_the_arm_that_was_done",
    "test_same_run_id.py",
}
"""What these files and tests ask about is the same however busy the box is: several run at once."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if not item.path.is_relative_to(here):
            continue
        if not {item.path.name, f"{item.path.name}::{item.name}"} & _SHARES_THE_BOX:
            item.add_marker(pytest.mark.undisturbed)
        if _REASON is not None:
            item.add_marker(pytest.mark.skip(reason=_REASON))


@pytest.fixture(autouse=True)
def state_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Each test has its own records, so that it can neither see nor clean another's runs."""
    directory = tmp_path / "state"
    monkeypatch.setenv(STATE_DIRECTORY_VARIABLE, str(directory))
    yield directory
    left = [path.name for path in directory.iterdir()] if directory.exists() else []
    assert not left, f"records of runs are left: {left}"
