"""What a device does not compute in bf16, as an error of one line before anything trains."""

from __future__ import annotations

import torch
from torch import nn

from traces.errors import MissingCapabilityError


def refuse_missing_bf16(network: nn.Module, device: torch.device) -> None:
    """MissingCapabilityError where ``device`` does not train ``network`` under autocast to bf16."""
    if device.type == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        raise MissingCapabilityError(
            f"{torch.cuda.get_device_name(device)} does not compute in bf16",
            remedy="choose the precision fp16 or fp32",
        )
    has_lstm = any(isinstance(layer, nn.LSTM) for layer in network.modules())
    if device.type == "cpu" and has_lstm and not _cpu_has_bf16_lstm():
        raise MissingCapabilityError(
            "this CPU does not compute an LSTM in bf16",
            remedy="choose the precision fp32, or a CPU with AVX-512",
        )


def _cpu_has_bf16_lstm() -> bool:
    """PyTorch does not say for which CPUs oneDNN has one, so it is tried."""
    try:
        with torch.autocast("cpu", torch.bfloat16):
            nn.LSTM(1, 1)(torch.zeros(1, 1, 1))
    except RuntimeError:
        return False
    return True
