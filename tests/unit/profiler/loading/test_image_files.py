from __future__ import annotations

import os
from pathlib import Path

import pytest

from profiler.loading.image_files import image_files
from tests.unit.profiler.loading.files import write_image
from traces.errors import BadInputError


def test_the_label_is_the_number_of_the_first_level_directory(tmp_path: Path) -> None:
    write_image(tmp_path / "dog" / "1.jpg")
    write_image(tmp_path / "cat" / "deep" / "er" / "2.png")
    write_image(tmp_path / "0.jpg")
    items = image_files(tmp_path, "refuse")
    names = [Path(path).name for path in items.paths]
    assert dict(zip(names, items.labels.tolist(), strict=True)) == {
        "0.jpg": 0,
        "1.jpg": 1,
        "2.png": 0,
    }
    assert items.length_bytes.tolist() == [Path(path).stat().st_size for path in items.paths]
    assert items.skipped == {}


@pytest.mark.parametrize("suffix", ["jpg", "png", "bmp", "tiff", "webp"])
def test_an_image_cut_short_is_broken_and_a_whole_one_is_not(tmp_path: Path, suffix: str) -> None:
    write_image(tmp_path / f"whole.{suffix}", pixels=32)
    data = write_image(tmp_path / f"cut.{suffix}", pixels=32)
    (tmp_path / f"cut.{suffix}").write_bytes(data[: len(data) // 2])
    items = image_files(tmp_path, "skip")
    assert [Path(path).name for path in items.paths] == [f"whole.{suffix}"]
    assert items.skipped == {"broken": 1}


def test_bytes_after_the_end_of_an_image_do_no_harm(tmp_path: Path) -> None:
    data = write_image(tmp_path / "padded.jpg")
    (tmp_path / "padded.jpg").write_bytes(data + bytes(1000))
    assert len(image_files(tmp_path, "refuse")) == 1


def test_all_that_is_no_image_is_counted_by_its_reason(tmp_path: Path) -> None:
    write_image(tmp_path / "a" / "image.jpg")
    (tmp_path / "a" / "empty.jpg").touch()
    (tmp_path / "a" / "note.jpg").write_text("not an image at all")
    (tmp_path / "a" / ".hidden").write_text("neither")
    (tmp_path / "a" / "gone.jpg").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "a" / "pipe.jpg")
    items = image_files(tmp_path, "skip")
    assert len(items) == 1
    assert items.skipped == {"empty": 1, "not an image": 2, "unreadable": 1, "not a file": 1}


def test_refusing_names_the_first_file_and_its_fault(tmp_path: Path) -> None:
    write_image(tmp_path / "a.jpg")
    (tmp_path / "b.jpg").touch()
    (tmp_path / "c.jpg").write_text("text")
    with pytest.raises(BadInputError, match=r"b\.jpg: empty, and 1 more"):
        image_files(tmp_path, "refuse")


def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    write_image(tmp_path / "a" / "1.jpg")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    assert len(image_files(tmp_path, "refuse")) == 1


@pytest.mark.parametrize("named", ["nothing", "file"])
def test_what_is_no_directory_is_refused(tmp_path: Path, named: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match="no such directory"):
        image_files(tmp_path / named, "skip")


def test_a_directory_without_images_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(BadInputError, match="no image among 1 files"):
        image_files(tmp_path, "skip")


def test_progress_counts_every_file(tmp_path: Path) -> None:
    write_image(tmp_path / "1.jpg")
    for number in range(300):
        (tmp_path / f"{number}.txt").write_text("text")
    seen: list[tuple[int, int]] = []
    image_files(tmp_path, "skip", lambda done, total: seen.append((done, total)))
    assert seen == [(256, 301), (301, 301)]
