"""The part of `make gpu-check` that follows NCCL, as far as it goes without a GPU: over gloo."""

from __future__ import annotations

from pathlib import Path

import pytest

from profiler.network.kineto_protocol import RECORDED_ITERATIONS
from tests.gpu import nccl


def test_its_job_is_followed_and_what_gloo_does_not_tell_is_no_success(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("tests/gpu has it over NCCL")
    sent = nccl.record(2, tmp_path)
    assert sent.steps == RECORDED_ITERATIONS
    assert sent.expected_bytes == 2 * (1024 * 1024 + 1024) * 4
    assert not sent.is_right
    assert "its trace has no collectives" in str(sent)
