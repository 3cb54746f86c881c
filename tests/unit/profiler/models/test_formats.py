"""Made items are real files, and every model's format decodes them to what the model takes."""

from __future__ import annotations

import io
import pickle
import wave
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from profiler.loading.stored_items import StoredItems
from profiler.models.builtin import builtin_model
from profiler.models.formats.image_format import ImageFormat, random_part
from profiler.models.formats.token_format import FIRST_TOKEN, NOT_PREDICTED, TokenFormat
from profiler.models.formats.wave_file import made_recording, read_part
from traces.errors import BadInputError

torch = pytest.importorskip("torch")

ONE_OF_EACH_FORMAT = ("res50", "gpt2", "bert", "xlm", "m5", "deepspeech", "dlrm")


def data_of(items: StoredItems, item: int) -> bytes:
    with Path(items.paths[items.file_of[item]]).open("rb") as file:
        file.seek(int(items.offset_bytes[item]))
        return file.read(int(items.length_bytes[item]))


@pytest.mark.parametrize("name", ONE_OF_EACH_FORMAT)
def test_items_are_the_same_for_a_seed_and_decode_alike_in_shape(name: str, tmp_path: Path) -> None:
    model = builtin_model(name, tiny=True)
    items = model.make_items(tmp_path / "one", 3, seed=5)
    again = model.make_items(tmp_path / "two", 3, seed=5)
    other = model.make_items(tmp_path / "two", 3, seed=6)
    data = [data_of(items, item) for item in range(3)]
    assert data == [data_of(again, item) for item in range(3)]
    assert data != [data_of(other, item) for item in range(3)]
    assert len(set(data)) == 3
    assert items.labels.tolist() == again.labels.tolist()
    sample_format = pickle.loads(pickle.dumps(model.format()))  # noqa: S301
    samples = [
        sample_format.decode(memoryview(data[item]), int(items.labels[item]), rng(item))
        for item in range(3)
    ]
    shapes = [[(tensor.shape, tensor.dtype) for tensor in sample] for sample in samples]
    assert shapes[0] == shapes[1] == shapes[2]
    repeated = sample_format.decode(data[0], int(items.labels[0]), rng(0))
    assert all(torch.equal(*both) for both in zip(samples[0], repeated, strict=True))


def test_files_that_are_there_are_kept_and_more_are_added(tmp_path: Path) -> None:
    model = builtin_model("alexnet", tiny=True)
    few = model.make_items(tmp_path, 2, seed=0)
    written = Path(few.paths[0]).stat().st_mtime_ns
    more = model.make_items(tmp_path, 3, seed=0)
    assert more.paths[:2] == few.paths
    assert more.labels[:2].tolist() == few.labels.tolist()
    assert Path(few.paths[0]).stat().st_mtime_ns == written
    assert {path.suffix for path in tmp_path.rglob("*.*")} == {".jpg"}  # nothing unfinished


def test_records_of_one_size_share_files(tmp_path: Path) -> None:
    items = builtin_model("lstm", tiny=True).make_items(tmp_path, 1500, seed=0)
    assert len(items.paths) == 2
    assert [Path(path).stat().st_size for path in items.paths] == [1024 * 36 * 2, 476 * 36 * 2]
    assert items.total_bytes == 1500 * 36 * 2
    assert len({data_of(items, item) for item in range(1500)}) == 1500


def test_no_items_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="0 items"):
        builtin_model("lstm", tiny=True).make_items(tmp_path, 0, seed=0)


def test_labels_that_the_model_has_no_output_for_are_refused() -> None:
    def items(label: int) -> StoredItems:
        one = np.array([1], dtype=np.int64)
        return StoredItems(("a",), np.zeros(1, dtype=np.int32), one, one, one * label)

    model = builtin_model("res18", tiny=False)
    model.check_labels(items(999))
    with pytest.raises(BadInputError, match="1000 to 1000"):
        model.check_labels(items(1000))


def test_made_images_are_like_photographs() -> None:
    data = ImageFormat(32).made_item(0, rng(1))
    with Image.open(io.BytesIO(data)) as image:
        assert image.format == "JPEG"
        assert image.mode == "RGB"
        assert all(320 <= side < 640 for side in image.size)
        bits_per_pixel = 8 * len(data) / (image.width * image.height)
    # ImageNet's have some 4 bits a pixel; noise would have more than 10, a plain area below 0.2.
    assert 1 < bits_per_pixel < 6


def test_an_image_is_normalised_channels_first() -> None:
    written = io.BytesIO()
    Image.new("L", (50, 40), 255).save(written, "PNG")
    pixels, label = ImageFormat(8).decode(written.getvalue(), 7, rng(0))
    assert pixels.shape == (3, 8, 8)
    expected = [(1 - 0.485) / 0.229, (1 - 0.456) / 0.224, (1 - 0.406) / 0.225]
    assert pixels.mean(dim=(1, 2)).tolist() == pytest.approx(expected, rel=1e-5)
    assert label.item() == 7
    assert label.dtype == torch.int64


@pytest.mark.parametrize("size", [(300, 200), (1, 1), (1000, 3), (3, 1000), (2, 1)])
def test_a_part_lies_in_the_image(size: tuple[int, int]) -> None:
    random = rng(0)
    parts = {random_part(*size, random) for _ in range(200)}
    for left, top, right, bottom in parts:
        assert 0 <= left < right <= size[0]
        assert 0 <= top < bottom <= size[1]
    if size == (300, 200):
        shares = [(right - left) * (bottom - top) / 60_000 for left, top, right, bottom in parts]
        assert min(shares) < 0.15
        assert max(shares) > 0.85


def test_tokens_are_stored_in_as_few_bytes_as_the_vocabulary_needs() -> None:
    for vocabulary, bytes_each in ((2000, 2), (2**16, 2), (200_000, 4)):
        sample_format = TokenFormat(vocabulary, tokens=50_000)
        data = sample_format.made_item(0, rng(3))
        (tokens,) = sample_format.decode(data, 0, rng(0))
        assert len(data) == sample_format.item_bytes == 50_000 * bytes_each
        assert tokens.dtype == torch.int64
        assert tokens.min() == FIRST_TOKEN
        assert vocabulary / 2 < tokens.max() < vocabulary
        # By Zipf's law, as drawn: the first rank's share is ln 2 / ln(ranks).
        first = (tokens == FIRST_TOKEN).float().mean().item()
        assert first == pytest.approx(np.log(2) / np.log(vocabulary - FIRST_TOKEN), rel=0.1)


def test_a_hidden_token_is_asked_for_and_no_other() -> None:
    sample_format = TokenFormat(2000, tokens=4000, masked=True)
    data = sample_format.made_item(0, rng(3))
    shown, asked = sample_format.decode(data, 0, rng(1))
    hidden = asked != NOT_PREDICTED
    stored = torch.from_numpy(np.frombuffer(data, dtype="<u2").astype(np.int64))
    assert torch.equal(torch.where(hidden, asked, shown), stored)
    assert (shown[hidden] < FIRST_TOKEN).all()
    assert hidden.float().mean().item() == pytest.approx(0.15, abs=0.02)


def test_a_recording_is_a_wave_file_and_is_resampled() -> None:
    data = made_recording(16000, 0.5, rng(2))
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 16000)
        assert file.getnframes() == 8000
    assert len(read_part(data, 16000, 9.0, rng(0))) == 8000
    assert len(read_part(data, 16000, 0.25, rng(0))) == 4000
    assert len(read_part(data, 8000, 0.5, rng(0))) == 4000


def test_channels_are_mixed_and_other_widths_refused() -> None:
    def recording(width: int) -> bytes:
        written = io.BytesIO()
        with wave.open(written, "wb") as file:
            file.setnchannels(2)
            file.setsampwidth(width)
            file.setframerate(8000)
            file.writeframes(np.tile([8192, 0], 100).astype(f"<i{width}").tobytes())
        return written.getvalue()

    assert read_part(recording(2), 8000, 1.0, rng(0)) == pytest.approx(np.full(100, 0.125))
    with pytest.raises(ValueError, match="32 bits a sample"):
        read_part(recording(4), 8000, 1.0, rng(0))


def test_speech_says_how_much_of_it_is_no_padding() -> None:
    sample_format = builtin_model("deepspeech", tiny=True).sample_format
    data = made_recording(16000, 0.5, rng(2))
    spectrogram, frames, characters, said = sample_format.decode(data, 0, rng(0))
    assert spectrogram.shape == (161, 101)
    assert frames.item() == 51
    assert not spectrogram[:, 51:].any()
    assert spectrogram[:, :51].std().item() == pytest.approx(1, rel=0.01)
    assert (characters.shape, said.item()) == ((15,), 7)
    assert characters.min() >= 1  # 0 is CTC's blank


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)
