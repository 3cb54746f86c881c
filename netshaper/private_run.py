"""A /run of one's own in a mount namespace: all of the old one, less its named namespaces."""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

from netshaper.namespaces import NAMED_NAMESPACES

RUN = Path("/run")
RECORDS = RUN / "roundelay"
_OWN = (NAMED_NAMESPACES, RECORDS)

_MS_NOSUID = 2
_MS_NODEV = 4
_MS_BIND = 4096
_MS_REC = 16384
_MS_PRIVATE = 1 << 18


def lay_private_run() -> None:
    """Lay a new file system over /run, with NAMED_NAMESPACES and RECORDS empty in it.

    A user cannot make a directory in the old one. All else in it stays in its place, for results
    may be on a disk that is mounted there. Raises OSError.
    """
    _mount(None, Path("/"), None, _MS_REC | _MS_PRIVATE)
    old = os.open(RUN, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with os.scandir(RUN) as found:
            entries = [entry for entry in found if RUN / entry.name not in _OWN]
        _mount("tmpfs", RUN, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755")
        for directory in _OWN:
            directory.mkdir()
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):  # it has gone in the meantime
                _show(entry, Path(f"/proc/self/fd/{old}") / entry.name)
    finally:
        os.close(old)


def _show(entry: os.DirEntry[str], source: Path) -> None:
    place = RUN / entry.name
    if entry.is_symlink():
        place.symlink_to(source.readlink())
        return
    if entry.is_dir():
        place.mkdir()
    else:
        place.touch()
    _mount(str(source), place, None, _MS_BIND | _MS_REC)


def _mount(
    source: str | None, target: Path, kind: str | None, flags: int, options: str | None = None
) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    words = [word and os.fsencode(word) for word in (source, str(target), kind, options)]
    source_, target_, kind_, options_ = words
    if libc.mount(source_, target_, kind_, ctypes.c_ulong(flags), options_) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))
