"""What `make gpu-check` runs, checked. Skipped where there is no GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.gpu.check import Case, cases, gpu_evidence, run_case, why_no_gpu
from traces.sensitivity import read_sensitivities

_REASON = why_no_gpu()
pytestmark = pytest.mark.skipif(_REASON is not None, reason=_REASON or "")


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_model_is_profiled_on_the_gpu(case: Case, tmp_path: Path) -> None:
    document: dict[str, Any] = run_case(case, tmp_path)
    (entry,) = read_sensitivities(tmp_path / case.name / "profile.json").entries
    assert entry.gpu_type == document["gpu_type"] != "cpu"
    assert all(point.get("state", "measured") == "measured" for point in document["points"])
    gpu = gpu_evidence(document)
    assert gpu["samples"] > 1
    assert 0 < gpu["utilisation"]["mean"] <= 1
    curve = document["curve"]["iteration_s"]
    assert curve[0] >= curve[-1] * 0.98
    if case.name == "language":
        assert curve[0] < curve[-1] * 1.1
    assert (tmp_path / case.name / "report.html").is_file()
