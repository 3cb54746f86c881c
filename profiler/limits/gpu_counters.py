"""Counters of one GPU through NVML, the library of NVIDIA's driver.

(NVML API reference, "Device Queries"; the Python module pynvml of nvidia-ml-py.)
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from traces.errors import MissingCapabilityError

GpuSample = Mapping[str, float]
"""Values by the name of a counter, at one moment; a counter that this GPU lacks is left out."""

UTILISATION = "utilisation"
MEMORY = "memory_used_bytes"
CLOCK = "sm_clock_mhz"
POWER = "power_w"
RECEIVED = "pcie_received_bytes_per_s"
SENT = "pcie_sent_bytes_per_s"
REASONS = "clock_reasons"
ENERGY = "energy_j"


class GpuCounters:
    """One GPU, whoever uses it.

    utilisation: share of the time, within the last second or less, in which a kernel ran. PCIe
    rates: over 20 ms, for which each sample waits. clock_reasons: bits that say why the clock is
    not higher.
    """

    def __init__(self, uuid: str | None) -> None:
        """uuid: of the GPU, as NVML or CUDA has it; None for the only one there is.

        It is not asked for by its number: NVML numbers all GPUs by their place on the PCI bus, CUDA
        those that CUDA_VISIBLE_DEVICES leaves, in its order, or the fastest first.

        MissingCapabilityError where there is no module, no driver, or no such GPU.
        """
        self._nvml = _initialised()
        try:
            self._handle = self._find(uuid)
            self.name = str(self._nvml.nvmlDeviceGetName(self._handle))
            self.uuid = str(self._nvml.nvmlDeviceGetUUID(self._handle))
            self.driver = str(self._nvml.nvmlSystemGetDriverVersion())
            cuda = int(self._nvml.nvmlSystemGetCudaDriverVersion())
        except self._nvml.NVMLError as error:
            self.close()
            raise MissingCapabilityError(
                f"NVML does not tell about the GPU {uuid or ''}".rstrip(),
                remedy=f"it says: {error}",
            ) from None
        except BaseException:
            self.close()
            raise
        self.driver_cuda = f"{cuda // 1000}.{cuda % 1000 // 10}"
        self.refused: dict[str, str] = {}
        """Counters that this GPU or this user does not get, each with what NVML says."""

    def sample(self) -> GpuSample:
        """The counters now."""
        found = {}
        for name, read in self._counters().items():
            if name not in self.refused:
                try:
                    found[name] = read()
                except self._nvml.NVMLError as error:
                    self.refused[name] = f"NVML: {error}"
        return found

    def close(self) -> None:
        """Let the driver's library go."""
        self._nvml.nvmlShutdown()

    def _find(self, uuid: str | None) -> Any:
        if uuid is not None:
            *others, last = nvml_uuids(uuid)
            for name in others:
                with contextlib.suppress(self._nvml.NVMLError):
                    return self._nvml.nvmlDeviceGetHandleByUUID(name)
            return self._nvml.nvmlDeviceGetHandleByUUID(last)
        count = self._nvml.nvmlDeviceGetCount()
        if count != 1:
            raise MissingCapabilityError(
                f"which of {count} GPUs the training uses is not known",
                remedy="have the training process tell the UUID of its GPU",
            )
        return self._nvml.nvmlDeviceGetHandleByIndex(0)

    def _counters(self) -> Mapping[str, Callable[[], float]]:
        nvml, handle = self._nvml, self._handle
        return {
            UTILISATION: lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100,
            MEMORY: lambda: float(nvml.nvmlDeviceGetMemoryInfo(handle).used),
            CLOCK: lambda: float(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)),
            POWER: lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1e3,
            RECEIVED: lambda: self._pcie_bytes_per_s(nvml.NVML_PCIE_UTIL_RX_BYTES),
            SENT: lambda: self._pcie_bytes_per_s(nvml.NVML_PCIE_UTIL_TX_BYTES),
            REASONS: lambda: float(nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)),
            ENERGY: lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1e3,
        }

    def _pcie_bytes_per_s(self, direction: int) -> float:
        return float(self._nvml.nvmlDeviceGetPcieThroughput(self._handle, direction)) * 1e3


def nvml_uuids(uuid: str) -> tuple[str, ...]:
    """What NVML may call the device that CUDA calls ``uuid``, likeliest first.

    NVML says of what kind it is: a GPU, or a part of one (MIG, multi-instance GPU). CUDA does not.
    """
    if uuid.startswith(("GPU-", "MIG-")):
        return (uuid,)
    return (f"GPU-{uuid}", f"MIG-{uuid}")


def clock_reason_names(bits: int) -> list[str]:
    """What NVML calls the bits of a counter ``clock_reasons``."""
    prefix = "nvmlClocksEventReason"
    constants = vars(importlib.import_module("pynvml"))
    named = {
        name.removeprefix(prefix): bit
        for name, bit in constants.items()
        if name.startswith(prefix) and isinstance(bit, int)
    }
    del named["All"], named["UserDefinedClocks"]  # of several bits; an older name of another
    return sorted(name for name, bit in named.items() if bits & bit)


def _initialised() -> Any:
    """The module, with its library begun."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        raise MissingCapabilityError(
            "GPU counters need the module pynvml", remedy="pip install nvidia-ml-py"
        ) from None
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        raise MissingCapabilityError(
            f"NVML does not start: {error}", remedy="install NVIDIA's driver where there is a GPU"
        ) from None
    return nvml
