"""Pollux' files: their units and columns, and what is refused in them, with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from traces.errors import BadInputError
from traces.formats.pollux_files import (
    read_placement_times,
    read_pollux_workload,
    read_scalability_times,
    read_validation,
)

WORKLOAD = "name,time,application,num_replicas,batch_size\n"
PLACEMENTS = "placement,local_bsz,step_time,sync_time\n"
SCALABILITY = "num_nodes,num_replicas,local_bsz,step_time,sync_time\n"
VALIDATION = "progress,iteration,metric,grad_sqr,grad_var\n"


def write(directory: Path, text: str) -> Path:
    file = directory / "file.csv"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_workload(tmp_path: Path) -> None:
    text = WORKLOAD + "ncf-0,53,ncf,1,32768\nbert-1,154,bert,16,384\n"
    assert read_pollux_workload(write(tmp_path, text)).to_dict("list") == {
        "job": ["ncf-0", "bert-1"],
        "application": ["ncf", "bert"],
        "submit_s": [53, 154],
        "num_gpus": [1, 16],
        "batch": [32768, 384],
    }


def test_times_of_a_placement(tmp_path: Path) -> None:
    text = PLACEMENTS + "1,32,0.5,0.0\n124,64,0.75,0.25\n"
    assert read_placement_times(write(tmp_path, text)).to_dict("list") == {
        "placement": ["1", "124"],
        "num_servers": [1, 3],
        "num_gpus": [1, 7],
        "per_gpu": [32, 64],
        "iteration_s": [0.5, 0.75],
        "synchronisation_s": [0.0, 0.25],
    }


def test_times_of_many_servers(tmp_path: Path) -> None:
    times = read_scalability_times(write(tmp_path, SCALABILITY + "6,24,32,0.5,0.25\n"))
    assert times.to_dict("list") == {
        "num_servers": [6],
        "num_gpus": [24],
        "per_gpu": [32],
        "iteration_s": [0.5],
        "synchronisation_s": [0.25],
    }


def test_a_training(tmp_path: Path) -> None:
    text = VALIDATION + "10.0,10,0.3,2.0,4.0\n20.5,20,0.5,1.0,8.0\n"
    assert read_validation(write(tmp_path, text)).to_dict("list") == {
        "progress": [10.0, 20.5],
        "iterations": [10.0, 20.0],
        "square": [2.0, 1.0],
        "variance": [4.0, 8.0],
    }


@pytest.mark.parametrize(
    ("read", "text", "line", "key"),
    [
        (read_pollux_workload, WORKLOAD + "a,1,ncf,1,8\na,2,ncf,1,8\n", 3, "name"),
        (read_pollux_workload, WORKLOAD + "a,-1,ncf,1,8\n", 2, "time"),
        (read_pollux_workload, WORKLOAD + "a,1.5,ncf,1,8\n", 2, "time"),
        (read_pollux_workload, WORKLOAD + "a,1,ncf,0,8\n", 2, "num_replicas"),
        (read_pollux_workload, WORKLOAD + "a,1,ncf,1,inf\n", 2, "batch_size"),
        (read_placement_times, PLACEMENTS + "1,8,0.5,0.1\n102,8,0.5,0.1\n", 3, "placement"),
        (read_placement_times, PLACEMENTS + "1,8,0.0,0.0\n", 2, "step_time"),
        (read_placement_times, PLACEMENTS + "1,8,0.5,0.5\n", 2, "sync_time"),
        (read_placement_times, PLACEMENTS + "1,8,0.5,-0.1\n", 2, "sync_time"),
        (read_placement_times, PLACEMENTS + "1,0,0.5,0.1\n", 2, "local_bsz"),
        (read_scalability_times, SCALABILITY + "6,5,8,0.5,0.1\n", 2, "num_replicas"),
        (read_validation, VALIDATION + "10,1,0,1,1\n10,2,0,1,1\n", 3, "progress"),
        (read_validation, VALIDATION + "10,2,0,1,1\n11,2,0,1,1\n", 3, "iteration"),
        (read_validation, VALIDATION + "10,1,0,-1,1\n", 2, "grad_sqr"),
        (read_validation, VALIDATION + "10,1,0,1,inf\n", 2, "grad_var"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(
    read: object, text: str, line: int, key: str, tmp_path: Path
) -> None:
    assert callable(read)
    with pytest.raises(BadInputError) as caught:
        read(write(tmp_path, text))
    assert (caught.value.line, caught.value.key) == (line, key)
