"""Work goes over all of an item, and says what it lacks."""

from __future__ import annotations

import io
import sys

import pytest
from PIL import Image

from emulator.training import cpu_work
from emulator.training.cpu_work import work_of
from traces.errors import MissingCapabilityError


@pytest.mark.parametrize("size", [2**12, 2**16, 200_000])
def test_hashing_goes_over_every_byte_of_an_item_again_and_again(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces: list[bytes] = []
    monkeypatch.setattr(cpu_work, "blake2b", lambda piece: pieces.append(bytes(piece)))
    data = bytearray(index % 251 for index in range(size))
    work = work_of("hash")
    for _ in range(2 * -(-size // 2**16)):
        work(data)
    assert b"".join(pieces) == bytes(data) * 2


@pytest.mark.parametrize("size", [1, 100, 2**16 + 1])
def test_a_short_piece_is_repeated_for_as_long_as_hashlib_holds_no_lock(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces: list[bytes] = []
    monkeypatch.setattr(cpu_work, "blake2b", lambda piece: pieces.append(bytes(piece)))
    work = work_of("hash")
    for _ in range(-(-size // 2**16)):
        work(bytearray(size))
    assert all(len(piece) > 2047 for piece in pieces)


def test_images_that_lie_whole_in_an_item_are_decoded_in_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = (jpeg(colour) for colour in ("red", "blue"))
    decoded: list[bytes] = []
    real_open = Image.open
    monkeypatch.setattr(
        Image, "open", lambda file: decoded.append(file.getvalue()) or real_open(file)
    )
    work = work_of("jpeg")
    for _ in range(5):
        work(bytearray(one[100:] + one + two + two[:100]))
    assert decoded == [one, two, one, two, one]


def test_an_item_without_a_whole_image_is_refused() -> None:
    for data in (bytes(1000), jpeg("red")[1:], jpeg("red")[:-1]):
        with pytest.raises(ValueError, match="no JPEG lies whole"):
            work_of("jpeg")(bytearray(data))


def jpeg(colour: str) -> bytes:
    encoded = io.BytesIO()
    Image.new("RGB", (64, 64), colour).save(encoded, "JPEG")
    return encoded.getvalue()


def test_without_pillow_jpeg_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingCapabilityError, match=r"roundelay\[real\]"):
        work_of("jpeg")
