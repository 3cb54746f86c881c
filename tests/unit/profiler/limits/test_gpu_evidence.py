"""From samples of a GPU's counters to figures."""

from __future__ import annotations

import pytest

from profiler.limits.gpu_counters import clock_reason_names, nvml_uuids
from profiler.limits.gpu_evidence import Spread, gpu_evidence


def names(bits: int) -> list[str]:
    return [name for bit, name in ((1, "GpuIdle"), (4, "SwPowerCap")) if bits & bit]


def test_means_and_extremes_over_all_samples() -> None:
    samples = [
        {"utilisation": 0.25, "power_w": 300.0, "energy_j": 1000.0, "clock_reasons": 4.0},
        {"utilisation": 1.0, "power_w": 500.0, "energy_j": 1090.0, "clock_reasons": 5.0},
        {"utilisation": 0.75, "power_w": 400.0, "energy_j": 1180.0, "clock_reasons": 0.0},
        {"utilisation": 0.5, "energy_j": 1270.0, "clock_reasons": 4.0},
    ]
    evidence = gpu_evidence("H", "GPU-1", samples, names)
    assert evidence.utilisation == Spread(0.625, 0.25, 1.0)
    assert evidence.power_w == Spread(400.0, 300.0, 500.0), "of those that have it"
    assert evidence.energy_j == 270.0
    assert evidence.clock_reasons == {"GpuIdle": 0.25, "SwPowerCap": 0.75}
    assert evidence.samples == 4


def test_what_no_sample_has_is_none() -> None:
    evidence = gpu_evidence("H", "GPU-1", [{"utilisation": 0.0}], names)
    assert evidence.utilisation == Spread(0.0, 0.0, 0.0)
    absent = ("power_w", "sm_clock_mhz", "memory_used_bytes", "clock_reasons", "energy_j")
    assert [getattr(evidence, name) for name in absent] == [None] * 5


def test_a_gpu_is_looked_for_by_what_nvml_may_call_it() -> None:
    plain = "0f3b1c52-9d7e-4c1a-8a55-2b1d0c9e7f60"
    assert nvml_uuids(plain) == (f"GPU-{plain}", f"MIG-{plain}")
    assert nvml_uuids(f"GPU-{plain}") == (f"GPU-{plain}",)
    assert nvml_uuids(f"MIG-{plain}") == (f"MIG-{plain}",)


def test_reasons_are_named_as_nvml_names_them() -> None:
    pytest.importorskip("pynvml", reason="needs nvidia-ml-py")
    assert clock_reason_names(0) == []
    assert clock_reason_names(1 | 4) == ["GpuIdle", "SwPowerCap"]
    assert clock_reason_names(2 | 0x40) == ["ApplicationsClocksSetting", "HwThermalSlowdown"]
