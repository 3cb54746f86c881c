"""Speech as the spectrogram of each moment, with what is said.

torch is imported where a tensor is made: names and made files do without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from profiler.models.formats.wave_file import made_recording, read_part

if TYPE_CHECKING:
    import torch

RATE_HZ = 16000
_WINDOW = 320  # samples: 20 ms
_STRIDE = 160
FREQUENCIES = _WINDOW // 2 + 1
CHARACTERS = 29
"""The blank of CTC, 26 letters, the apostrophe and the space."""
_CHARACTERS_PER_S = 15
_SHORTEST_SHARE = 0.6  # of the longest made recording


@dataclass(frozen=True)
class SpectrogramFormat:
    """Samples: spectrogram (FREQUENCIES, frames) float32; its frames without padding () int64;
    characters (characters,) int64; how many of them count () int64.

    Recordings hold no text. Characters are drawn, as many as are said in that time: what they are
    changes neither the work nor its time.

    seconds: longer recordings are cut, shorter ones end in silence.
    """

    seconds: float

    classes = 1
    file_suffix = ".wav"
    item_bytes = None
    dali = None

    @property
    def frames(self) -> int:
        return round(self.seconds * RATE_HZ) // _STRIDE + 1

    @property
    def characters(self) -> int:
        return max(1, round(self.seconds * _CHARACTERS_PER_S))

    def decode(
        self, data: bytes | memoryview, label: int, random: np.random.Generator
    ) -> tuple[torch.Tensor, ...]:
        import torch

        sound = torch.from_numpy(read_part(data, RATE_HZ, self.seconds, random))
        power = torch.stft(
            sound,
            n_fft=_WINDOW,
            hop_length=_STRIDE,
            window=torch.hamming_window(_WINDOW),
            pad_mode="constant",
            return_complex=True,
        ).abs()
        log_power = power.log1p()[:, : self.frames]
        spectrogram = torch.zeros(FREQUENCIES, self.frames)
        frames = log_power.shape[1]
        spread = log_power.std().clamp_min(1e-6)
        spectrogram[:, :frames] = (log_power - log_power.mean()) / spread
        said = max(1, self.characters * frames // self.frames)
        characters = random.integers(1, CHARACTERS, size=self.characters)
        return (
            spectrogram,
            torch.tensor(frames),
            torch.from_numpy(characters),
            torch.tensor(said),
        )

    def made_item(self, label: int, random: np.random.Generator) -> bytes:
        seconds = self.seconds * random.uniform(_SHORTEST_SHARE, 1)
        return made_recording(RATE_HZ, seconds, random)
