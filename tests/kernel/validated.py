"""A run that was emulated and simulated, validated as a person would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.kernel.command import roundelay
from tests.unit.harness.fidelity.scipy_figures import Drawn, check_page


def check_validation(
    run: Path, page: Path, arms: Mapping[str, Drawn], measure: str
) -> dict[str, Any]:
    """``roundelay validate run``: its page has SciPy's figures of ``arms``. What it printed."""
    done = roundelay("validate", run, "-o", page, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert [arm["name"] for arm in document["arms"]] == list(arms)
    for arm, drawn in zip(document["arms"], arms.values(), strict=True):
        assert arm["errors"]["pairs"] == len(drawn.pairs)
        assert all(part["reference_s"] >= 0 for part in arm["sources"]["parts"])
        assert arm["sources"]["parts"]
    (decision,) = document["decisions"]
    assert set(decision["reference"]) == set(arms)
    check_page(page.read_text(encoding="utf-8"), arms, measure)
    return document
