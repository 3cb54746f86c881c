"""CASSINI's snapshots on real networks: every arm comes back, and a stop keeps what was done."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from harness.experiments.reproduce.cassini.emulate_snapshots import emulate_snapshots
from harness.experiments.reproduce.cassini.snapshots import SHIFTED, TOGETHER, Size
from tests.kernel.command import EXAMPLE, roundelay
from tests.kernel.validated import check_validation
from tests.unit.harness.fidelity.scipy_figures import emulated_iterations
from traces.generators.cassini_snapshots import SNAPSHOTS

PAIR, TRIPLE = SNAPSHOTS[1], SNAPSHOTS[2]


def test_every_arm_is_measured_and_predicted() -> None:
    said: list[str] = []
    size = Size((TRIPLE,), iterations=4, seeds=1)
    made = emulate_snapshots(size, None, (TOGETHER, SHIFTED), said.append)
    assert not made.interrupted
    assert [(each.arm, each.seed) for each in made.arms] == [(TOGETHER, 1), (SHIFTED, 1)]
    for each in made.arms:
        assert len(each.measured_s) == len(each.predicted_s) == 3 * 4
        assert each.score > 0.99
        assert set(each.adjustments_per_min) == {"vgg19-0", "vgg16-1", "resnet50-2"}
        assert each.verdict.invariants
    assert any("cassini" in text for text in said)


def test_a_stop_keeps_the_arms_that_were_done() -> None:
    """Ctrl-C, once, while the second arm runs."""
    said: list[str] = []

    def say(text: str) -> None:
        first = "emulating cassini" in text and not any("emulating cassini" in t for t in said)
        said.append(text)
        if first:
            os.kill(os.getpid(), signal.SIGINT)

    size = Size((PAIR, TRIPLE), iterations=6, seeds=2)
    made = emulate_snapshots(size, None, (TOGETHER, SHIFTED), say)
    assert made.interrupted
    assert [(each.snapshot, each.arm) for each in made.arms] == [(PAIR, TOGETHER)]


def test_an_emulated_snapshot_validates_its_simulation(tmp_path: Path) -> None:
    text = EXAMPLE.with_name("cassini-snapshot.yaml").read_text()
    for long, short in (
        ("  iterations: 120", "  iterations: 6"),
        ("warmup_iterations: 5", "warmup_iterations: 1"),
    ):
        assert long in text
        text = text.replace(long, short)
    (tmp_path / "short.yaml").write_text(text)
    run = tmp_path / "run"
    done = roundelay("run", tmp_path / "short.yaml", "-o", run)
    assert done.returncode == 0, done.stderr
    arms = emulated_iterations(run)
    assert [len(drawn.pairs) for drawn in arms.values()] == [2 * 6] * 3
    check_validation(run, tmp_path / "validation.html", arms, "iteration")
