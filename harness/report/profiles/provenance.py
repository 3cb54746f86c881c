"""Where a profile comes from: what trained, how, and on what. Pure."""

from __future__ import annotations

import json

from harness.report.html import Html, table
from profiler.training.protocol import Ready


def provenance(ready: Ready, source: str, gpu_uuid: str | None) -> Html:
    """source: in words. gpu_uuid: of the GPU that was measured; None without one."""
    rows = [
        ["source", source],
        ["device", f"{ready.device}: {ready.device_name}"],
        *([] if gpu_uuid is None else [["GPU", gpu_uuid]]),
        ["dataset", f"{ready.dataset_items or 'unknown'} items, {ready.dataset_bytes or 0} bytes"],
        ["options", json.dumps(dict(ready.options), sort_keys=True)],
        ["versions", ", ".join(f"{name} {version}" for name, version in ready.versions.items())],
    ]
    return table("Provenance", ["", ""], rows, "-w")
