"""Raw sound, to be told apart.

torch is imported where a tensor is made: names and made files do without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from profiler.models.formats.wave_file import made_recording, read_part

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class WaveformFormat:
    """Samples: sound (1, samples) float32 of zero mean and unit variance; label () int64.

    rate_hz: what the sound is resampled to. samples: at that rate; shorter sound ends in silence.
    stored_hz: of made items, which are as long.
    """

    rate_hz: int
    samples: int
    stored_hz: int
    classes: int

    file_suffix = ".wav"
    item_bytes = None
    dali = None

    @property
    def seconds(self) -> float:
        return self.samples / self.rate_hz

    def decode(
        self, data: bytes | memoryview, label: int, random: np.random.Generator
    ) -> tuple[torch.Tensor, ...]:
        import torch

        part = read_part(data, self.rate_hz, self.seconds, random)[: self.samples]
        sound = np.zeros((1, self.samples), dtype=np.float32)
        sound[0, : len(part)] = (part - part.mean()) / max(float(part.std()), 1e-6)
        return torch.from_numpy(sound), torch.tensor(label)

    def made_item(self, label: int, random: np.random.Generator) -> bytes:
        return made_recording(self.stored_hz, self.seconds, random)
