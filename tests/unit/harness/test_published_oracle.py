"""With the published semantics, every job ends when Synergy's own simulator said it does.

Three of the nine runs whose results are beside the checkout; ``roundelay reproduce synergy-oracle``
looks at all of them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from harness.job_table import Floats
from tests.unit.harness.published_runs import run_published
from tests.unit.harness.scheduling.packing.packing_cases import Servers

ORACLE = Path(__file__).parents[4] / "shared" / "data" / "synergy" / "oracle"
MEASURED = slice(4000, 5000)


def oracle_jct(policy: str, mechanism: str, load: int) -> tuple[Floats, Floats]:
    """(ours, theirs): seconds from arrival to end of the jobs that their simulator finished."""
    columns = ["job", "model", "arrival_s", "iterations", "gpus"]
    trace = pd.read_csv(ORACLE / f"trace_{load}jph.csv", names=columns)
    theirs = pd.read_csv(ORACLE / f"jct_{policy}_{mechanism}_{load}jph.csv")
    guard_s = None if policy == "fifo" else 1000 * 3600.0
    servers = Servers(16, 8, cpus=24, memory=500)
    run = run_published(trace, servers, policy, mechanism, guard_s, MEASURED)
    arrival_s = trace["arrival_s"].to_numpy()[MEASURED]
    ours = run.table.finish_s[MEASURED] - arrival_s
    return ours, theirs["finish_s"].to_numpy()[MEASURED] - arrival_s


@pytest.mark.data
@pytest.mark.parametrize(
    ("policy", "mechanism", "load"),
    [("fifo", "proportional", 9), ("las", "tune", 8), ("ftf", "tune", 8)],
)
def test_the_authors_simulator(policy: str, mechanism: str, load: int) -> None:
    """Every measured job ends in the very same round."""
    if not ORACLE.is_dir():
        pytest.skip("the published results are not beside this checkout")
    ours, theirs = oracle_jct(policy, mechanism, load)
    np.testing.assert_array_equal(ours, theirs)
