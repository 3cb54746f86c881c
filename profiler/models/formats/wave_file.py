"""Sound in WAV files (RIFF): 16 bits a sample."""

from __future__ import annotations

import io
import math
import wave

import numpy as np
from numpy.typing import NDArray

_SAMPLE_BYTES = 2
_FULL_SCALE = 2**15


def read_part(
    data: bytes | memoryview, rate_hz: int, seconds: float, random: np.random.Generator
) -> NDArray[np.float32]:
    """``seconds`` of a file from a random moment on, or all of it where it is shorter.

    One channel, their mean, of values in -1..1, sampled at ``rate_hz``.

    Raises ValueError, or the errors of ``wave``, where ``data`` is no such file.
    """
    with wave.open(io.BytesIO(data)) as file:
        if file.getsampwidth() != _SAMPLE_BYTES:
            raise ValueError(f"{8 * file.getsampwidth()} bits a sample, not 16")
        stored_hz = file.getframerate()
        wanted = round(seconds * stored_hz)
        file.setpos(int(random.integers(max(0, file.getnframes() - wanted) + 1)))
        frames = np.frombuffer(file.readframes(wanted), dtype="<i2")
        channels = frames.reshape(-1, file.getnchannels())
    sound: NDArray[np.float32] = channels.mean(axis=1, dtype=np.float32) / _FULL_SCALE
    if stored_hz == rate_hz:
        return sound
    from scipy.signal import resample_poly  # it takes as long to import as some files to read

    common = math.gcd(rate_hz, stored_hz)
    resampled: NDArray[np.float32] = resample_poly(sound, rate_hz // common, stored_hz // common)
    return resampled.astype(np.float32)


def made_recording(rate_hz: int, seconds: float, random: np.random.Generator) -> bytes:
    """A WAV file of one channel: a voice's harmonics that come and go with syllables, and noise."""
    time_s = np.arange(round(seconds * rate_hz)) / rate_hz
    harmonics = np.array([[1], [2], [3], [5]])
    phase = 2 * np.pi * random.uniform(80, 250) * time_s
    voice = (np.sin(harmonics * phase) / harmonics).sum(axis=0)
    syllables = np.sin(2 * np.pi * random.uniform(2, 5) * time_s) ** 2
    sound = 0.25 * voice * syllables + 0.01 * random.standard_normal(len(time_s))
    stored = (sound.clip(-1, 1) * (_FULL_SCALE - 1)).astype("<i2")
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(_SAMPLE_BYTES)
        file.setframerate(rate_hz)
        file.writeframes(stored.tobytes())
    return written.getvalue()
