"""What a user's own command is told about its place among the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator.iterations import FIRST_VARIABLE
from emulator.rounds.cluster_network import plan_cluster_network, server_name
from emulator.rounds.commands import (
    CommandPlace,
    command_specification,
    memory_divisor,
)
from tests.unit.emulator.rounds.running import ITERATIONS_PER_STEP, report_of, running_job

NETWORK = plan_cluster_network("run1", 2, 2, 4e9, 40e9, 10.0)
PLACE = CommandPlace(Path("/data"), (1000, 1001), 1.0)


def test_every_rank_is_told_where_it_is_and_who_leads() -> None:
    job = running_job(report_of(0.0), report_of(0.0), command=("python", "train.py"))
    for rank, worker in enumerate(job.workers):
        told = command_specification(job.lease, worker, "unix:/leases", NETWORK, PLACE)
        environment = told["environment"]
        assert (environment["RANK"], environment["WORLD_SIZE"]) == (str(rank), "2")
        assert environment["LOCAL_RANK"] == "0"
        assert environment["PET_NODE_RANK"] == str(rank)
        assert environment["PET_NPROC_PER_NODE"] == environment["ROUNDELAY_GPUS"] == "2"
        assert environment["MASTER_ADDR"] == NETWORK.plan.addresses.server(server_name(0))
        assert environment[FIRST_VARIABLE] == "20"
        assert told["namespace"] == NETWORK.plan.namespaces[server_name(rank)]
        assert told["argv"] == ["python", "train.py"]
        assert told["user"] == [1000, 1001]
        assert told["iterations_per_count"] == ITERATIONS_PER_STEP


def test_memory_is_divided_only_where_this_box_has_too_little() -> None:
    assert memory_divisor(1.0) == 1.0
    much = memory_divisor(1e18)
    assert much > 1.0
    assert memory_divisor(1e18, share=0.25) == pytest.approx(2 * much)
