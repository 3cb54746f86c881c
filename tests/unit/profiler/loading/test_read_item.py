from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from profiler.loading.failure import LoadingError
from profiler.loading.read_item import read_item
from tests.unit.profiler.loading.files import one_file


def _is_in_page_cache(path: Path) -> bool:
    """Whether the first byte can be read without waiting for storage. (preadv2(2), RWF_NOWAIT)"""
    file = os.open(path, os.O_RDONLY)
    try:
        return os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            pytest.skip("this file system does not tell what waits for storage")
        raise
    finally:
        os.close(file)


def test_exactly_the_bytes_of_an_item(tmp_path: Path) -> None:
    items, data = one_file(tmp_path / "items", [5000, 1, 4096, 9000])
    assert [read_item(items, item) for item in range(4)] == data


def test_the_page_cache_keeps_nothing_of_an_item(tmp_path: Path) -> None:
    path = tmp_path / "items"
    items, data = one_file(path, [100_000])
    with path.open("rb") as written:
        os.fsync(written.fileno())
    assert _is_in_page_cache(path)
    assert read_item(items, 0) == data[0]
    if _is_in_page_cache(path):
        kinds = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
        mounts = [kind for kind in kinds if path.is_relative_to(kind[1])]
        in_memory = max(mounts, key=lambda mount: len(mount[1]))[2] in {"tmpfs", "ramfs"}
        assert in_memory, "read_item left pages behind"
        pytest.skip("the temporary directory is in memory, and has no page cache")


def test_a_file_that_has_become_shorter_or_is_gone_says_so(tmp_path: Path) -> None:
    path = tmp_path / "items"
    items, _ = one_file(path, [100, 100])
    os.truncate(path, 150)
    with pytest.raises(LoadingError, match="items: 50 of 100 bytes at 100"):
        read_item(items, 1)
    path.unlink()
    with pytest.raises(LoadingError, match="items: No such file"):
        read_item(items, 0)
