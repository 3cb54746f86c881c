"""A small application as Pollux' files describe it, with times that can be summed by hand.

An iteration takes 0.1 s, 0.01 s for each example on a GPU, and 0.1 s to synchronise GPUs of one
server or 0.2 s those of several. An epoch is 100 iterations of 16 examples, a training two epochs.
With 64 examples an iteration makes 2.5 times the progress.
"""

from __future__ import annotations

from pathlib import Path

PLACEMENTS = ("1", "2", "3", "4", "11", "12", "13", "14", "22", "23", "24", "33", "34", "44")
PER_GPU = (4, 16, 64)


def times_s(servers: int, gpus: int, per_gpu: int) -> tuple[float, float]:
    synchronisation_s = 0.2 if servers > 1 else 0.1 if gpus > 1 else 0.0
    return 0.1 + 0.01 * per_gpu + synchronisation_s, synchronisation_s


def write_toy(folder: Path) -> Path:
    folder.mkdir(parents=True)
    lines = ["placement,local_bsz,step_time,sync_time"]
    for placement in PLACEMENTS:
        gpus = sum(int(digit) for digit in placement)
        for per_gpu in PER_GPU:
            iteration_s, synchronisation_s = times_s(len(placement), gpus, per_gpu)
            lines.append(f"{placement},{per_gpu},{iteration_s},{synchronisation_s}")
    (folder / "placements.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = ["num_nodes,num_replicas,local_bsz,step_time,sync_time"]
    for servers in (6, 16):
        for gpus in (servers, 4 * servers):
            for per_gpu in PER_GPU:
                iteration_s, synchronisation_s = times_s(servers, gpus, per_gpu)
                lines.append(f"{servers},{gpus},{per_gpu},{iteration_s},{synchronisation_s}")
    (folder / "scalability.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    header = "progress,iteration,metric,grad_sqr,grad_var\n"
    for batch in (16, 64, 256):
        rows = f"100,100,0.5,1.0,4.0\n{184 + batch},200,0.9,1.0,4.0\n"
        (folder / f"validation-{batch}.csv").write_text(header + rows, encoding="utf-8")
    return folder
