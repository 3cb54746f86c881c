"""The example of a replay: the real job and the replay of its committed profile take as long."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.kernel.command import arm, mean_s, trusted_run

EXAMPLE = Path(__file__).parents[2] / "examples" / "real-and-replayed.yaml"

pytestmark = [
    pytest.mark.undisturbed,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


def test_both_arms_of_the_example_take_as_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    # The example's `python` is that of an environment that is active.
    places = (str(Path(sys.executable).parent), os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(places))
    summary = trusted_run(EXAMPLE, tmp_path)
    real, replayed = (mean_s(arm(summary, name)) for name in ("real", "replayed"))
    assert replayed == pytest.approx(real, rel=0.03)
    # What the profile says of it holds of both.
    for name in ("real", "replayed"):
        assert abs(arm(summary, name)["difference"]["mean"]) <= 0.03
