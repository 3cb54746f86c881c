"""Which command follows a person's script."""

from __future__ import annotations

import pytest

from profiler.network.kineto_command import followed
from traces.errors import BadInputError

JOB = "-m profiler.network.kineto_script"


@pytest.mark.parametrize(
    ("words", "run"),
    [
        ("python train.py --lr 0.1", f"python {JOB} train.py --lr 0.1"),
        ("python3 -u -m package.train -m x", f"python3 -u {JOB} -m package.train -m x"),
    ],
)
def test_a_script_of_python(words: str, run: str) -> None:
    assert followed(words.split()) == tuple(run.split())


@pytest.mark.parametrize(
    ("words", "run"),
    [
        (
            "torchrun --nnodes 2 --rdzv-endpoint a:29400 train.py --lr 1 -m x",
            f"torchrun --nnodes 2 --rdzv-endpoint a:29400 {JOB} train.py --lr 1 -m x",
        ),
        (
            "/opt/bin/torchrun --standalone --nproc-per-node=2 -m package.train --lr 1",
            f"/opt/bin/torchrun --standalone --nproc-per-node=2 {JOB} -m package.train --lr 1",
        ),
        (
            "python -m torch.distributed.run --nproc_per_node 2 train.py",
            f"python -m torch.distributed.run --nproc_per_node 2 {JOB} train.py",
        ),
    ],
)
def test_a_script_that_torchrun_starts(words: str, run: str) -> None:
    pytest.importorskip("torch")
    assert followed(words.split()) == tuple(run.split())


@pytest.mark.parametrize(
    "words", ["./train.sh", "python -c pass", "python", "torchrun --no-python ./train.sh"]
)
def test_what_runs_no_script_is_refused(words: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(BadInputError, match=r"--kineto: .*; allowed: python SCRIPT"):
        followed(words.split())
