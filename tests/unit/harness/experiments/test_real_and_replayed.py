"""The example of a replay: its profile is what the job beside it must send."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.experiments.run import decide_all, predict_all
from harness.experiments.summary import counted_times
from traces.scenario import load_scenario

EXAMPLE = Path(__file__).parents[4] / "examples" / "real-and-replayed.yaml"

FRAME_SHARE = 1514 / 1448
"""Bytes on the wire for a byte of payload, in full frames with TCP's timestamps."""

WIDTH = 512
GRADIENT_BYTES = 2 * (WIDTH * WIDTH + WIDTH) * 4
STORAGE_S = 0.2


def test_its_arms_differ_in_the_command_alone() -> None:
    real, replayed = load_scenario(EXAMPLE).arms
    (job,), (replay,) = real.jobs, replayed.jobs
    assert job.command is not None
    assert job.command.argv[-4:] == ("--width", str(WIDTH), "--storage", str(STORAGE_S))
    assert job.model_copy(update={"command": None}) == replay
    assert real.model_copy(update={"jobs": (), "name": ""}) == replayed.model_copy(
        update={"jobs": (), "name": ""}
    )


def test_its_profile_is_a_ring_all_reduce_of_the_gradients_after_the_storage() -> None:
    profile = load_scenario(EXAMPLE).arms[0].jobs[0].profile
    assert profile.provenance == "measured"
    (transfer,) = profile.demand.transfers
    # Of two ranks each sends half of the gradients twice.
    assert transfer.bytes == pytest.approx(GRADIENT_BYTES * FRAME_SHARE, rel=0.02)
    # Little but the storage and the link decides how long it takes, on whatever machine.
    assert STORAGE_S < transfer.ready_s < 1.1 * STORAGE_S


def test_the_simulator_gives_the_time_that_the_job_took() -> None:
    results = decide_all(load_scenario(EXAMPLE))
    predict_all(results, lambda *_: None, lambda: False)
    for result in results:
        assert result.prediction is not None
        measured_s = result.arm.jobs[0].profile.measured_iteration_s
        assert measured_s is not None
        mean_s = float(np.mean(counted_times(result.prediction.iterations)))
        assert mean_s == pytest.approx(measured_s, rel=0.03)
