"""What is run as the training process."""

from __future__ import annotations

import sys

import pytest

from profiler.training.command_lines import builtin_command, script_command
from profiler.training.job_specification import JobSpecification
from traces.errors import BadInputError

JOB = "-m profiler.training.script_job --"


@pytest.mark.parametrize(
    ("words", "run"),
    [
        ("python train.py --lr 0.1", f"python {JOB} train.py --lr 0.1"),
        ("/opt/v/bin/python3.11 -u a/train.py", f"/opt/v/bin/python3.11 -u {JOB} a/train.py"),
        ("python -m package.train -m x", f"python {JOB} -m package.train -m x"),
        ("python3 -X dev -W error train.py", f"python3 -X dev -W error {JOB} train.py"),
        ("torchrun --nproc 2 train.py", "torchrun --nproc 2 train.py"),
        ("./train.py", "./train.py"),
        ("python", "python"),
        ("python -c pass", "python -c pass"),
        ("pythonista train.py", "pythonista train.py"),
    ],
)
def test_a_script_of_python_is_watched_and_the_rest_is_left_alone(words: str, run: str) -> None:
    assert script_command(words.split()) == run.split()


def test_a_built_in_job_is_told_what_to_do_on_its_command_line() -> None:
    job = JobSpecification("res50", tiny=True, device="cpu", made_directory="/tmp/a b")  # noqa: S108
    python, *module, text = builtin_command(job)
    assert python == sys.executable
    assert module == ["-P", "-m", "profiler.training.builtin_job"]
    assert JobSpecification.from_text(text) == job


@pytest.mark.parametrize("text", ["", "{", "[]", '{"model": "res50"}', '{"modell": 1}', "7"])
def test_what_is_no_specification_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match="specification"):
        JobSpecification.from_text(text)
