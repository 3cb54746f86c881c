"""A training that only says how long its iterations took: known times, and every way to fail."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from emulator.limits.available import LIMITS, AvailableLimits

DATASET_ITEMS, ITEM_BYTES, BATCH = 1000, 1000, 10
DATASET_BYTES = DATASET_ITEMS * ITEM_BYTES
ITERATION_BYTES = BATCH * ITEM_BYTES

NO_LIMITS = AvailableLimits((), dict.fromkeys(LIMITS, "use sudo"))
"""What a user without rights may do: set the affinity of processes."""

_PROGRAM = """\
import json, os, random, select, socket, sys, time
settings = json.loads({settings!r})
end = socket.socket(fileno=int(os.environ["ROUNDELAY_PROFILER_FD"]))
lines = end.makefile("r")
said = random.Random(7)

def say(**message):
    end.sendall(json.dumps(message).encode() + b"\\n")

def seconds(cpus, cache_bytes, source):
    if source == "synthetic":
        return settings["gpu_s"]
    missed = {iteration_bytes} * (1 - min(1, cache_bytes / {dataset_bytes}))
    fetch_s = missed / settings["storage_bytes_per_s"]
    return max(settings["gpu_s"], settings["cpu_s"] / cpus, fetch_s)

print("begun", flush=True)
if settings.get("exit"):
    sys.exit(settings["exit"])
time.sleep(settings.get("silent_s", 0))
say(event="ready", model="stand-in", kind=settings.get("kind", "image"), batch_size={batch},
    device="cpu", device_name="a CPU", loader="none",
    dataset_items=settings.get("items", {items}),
    dataset_bytes=settings.get("bytes", {dataset_bytes}),
    skipped=settings.get("skipped", {{}}), not_followed=settings.get("not_followed", {{}}))
noise = settings.get("noise", 0.005)
done = 0
wanted = None
while True:
    if wanted is None or select.select([end], [], [], 0)[0]:
        command = json.loads(lines.readline() or '{{"do": "end"}}')
        if command["do"] == "end":
            break
        cpus, cache = command["cpus"], command["cache_bytes"]
        fate = settings.get("at", {{}}).get(f"{{cpus:g}}", "")
        if fate == "refuse":
            say(event="refused", message="no such cache")
            continue
        if fate == "die":
            print("ValueError: too few CPUs", flush=True)
            os._exit(1)
        say(event="allocated", workers=2, threads=1, cached_items=cache // {item_bytes},
            cached_bytes=min(cache, {dataset_bytes}), cpus=cpus)
        wanted = command
        if fate == "out-of-memory":
            say(event="out-of-memory", message="CUDA out of memory")
            wanted = None
            continue
        if fate == "not-finite":
            say(event="not-finite", iteration=3)
    iteration_s = seconds(wanted["cpus"], wanted["cache_bytes"], wanted["source"])
    records = []
    for _ in range(min(40, settings.get("iterations", 40))):
        took_s = iteration_s * said.uniform(1 - noise, 1 + noise)
        wait_s = max(took_s - settings["gpu_s"], 0)
        records.append([wait_s, 0, took_s - wait_s, took_s])
    done += len(records)
    say(event="iterations", records=records, samples_per_iteration={batch}, epoch=0,
        hits=done, misses=0, fetched_bytes=0)
    if done >= settings.get("iterations", 10**9):
        say(event="ended", iterations=done)
        break
    time.sleep(0.005)
"""


def stand_in(directory: Path, **settings: Any) -> str:
    """An executable that behaves as ``settings`` say; its name does not look like Python's."""
    settings = {"gpu_s": 0.010, "cpu_s": 0.024, "storage_bytes_per_s": 1e6} | settings
    program = _PROGRAM.format(
        settings=json.dumps(settings),
        iteration_bytes=ITERATION_BYTES,
        dataset_bytes=DATASET_BYTES,
        items=DATASET_ITEMS,
        item_bytes=ITEM_BYTES,
        batch=BATCH,
    )
    file = directory / "train"
    file.write_text(f"#!{sys.executable} -IS\n{program}")
    file.chmod(0o700)
    return str(file)


def true_iteration_s(cpus: float, cache_bytes: int, **settings: float) -> float:
    """What the stand-in says, without its noise."""
    known = {"gpu_s": 0.010, "cpu_s": 0.024, "storage_bytes_per_s": 1e6} | settings
    missed = ITERATION_BYTES * (1 - min(1, cache_bytes / DATASET_BYTES))
    return max(known["gpu_s"], known["cpu_s"] / cpus, missed / known["storage_bytes_per_s"])
