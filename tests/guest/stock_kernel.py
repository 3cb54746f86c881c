"""Debian's stock kernel, unpacked below the cache folder and installed nowhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_CHECKOUT = Path(__file__).parents[2]
_META_PACKAGE = "linux-image-amd64"
_IMAGE = re.compile(r"^ *Depends: (linux-image-\d\S*-amd64)$", re.MULTILINE)
_DOWNLOAD_TIMEOUT_S = 300


class NoKernelError(Exception):
    """The kernel cannot be had here; the text says why."""


@dataclass(frozen=True)
class StockKernel:
    """An unpacked kernel package with a static busybox for the initial file system."""

    directory: Path

    @property
    def image(self) -> Path:
        """The kernel itself; its modules are found beside it."""
        return next(self.directory.glob("boot/vmlinuz-*"))

    @property
    def busybox(self) -> Path:
        """The shell of the initial file system."""
        return self.directory / "bin" / "busybox"


def cached_kernel() -> StockKernel:
    """The kernel in the cache; fetched first where there is none. Raises NoKernelError."""
    place = _CHECKOUT / os.environ.get("CACHE", ".cache") / "guest-kernel"
    found = sorted(path for path in place.glob("linux-image-*") if path.is_dir())
    if found:
        return StockKernel(found[-1])
    place.mkdir(parents=True, exist_ok=True)
    package = _image_package()
    # It gets its name when it is whole, so that an interrupted fetch is not mistaken for one.
    partial = Path(tempfile.mkdtemp(prefix="partial-", dir=place))
    try:
        _unpack([package, "busybox-static"], partial)
        return StockKernel(partial.rename(place / package))
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _image_package() -> str:
    """Name of the package that holds the current kernel."""
    found = _IMAGE.search(_output(("apt-cache", "depends", _META_PACKAGE)))
    if found is None:
        _update()
        found = _IMAGE.search(_output(("apt-cache", "depends", _META_PACKAGE)))
    if found is None:
        raise NoKernelError(f"apt knows no {_META_PACKAGE}; its sources are not Debian's")
    return found[1]


def _unpack(packages: Sequence[str], directory: Path) -> None:
    download = ("apt-get", "download", "-qq", *packages)
    with tempfile.TemporaryDirectory(prefix="roundelay-debs-") as name:
        if _run(download, name).returncode != 0:
            _update()  # an old list names versions that the mirror no longer has
            done = _run(download, name)
            if done.returncode != 0:
                raise NoKernelError(f"the kernel cannot be downloaded: {_last_line(done.stderr)}")
        for package in Path(name).glob("*.deb"):
            _output(("dpkg", "-x", str(package), str(directory)))
    version = next(directory.glob("lib/modules/*")).name
    _output(("depmod", "--basedir", str(directory), version))


def _update() -> None:
    done = _run(("apt-get", "update", "-qq"))
    if done.returncode != 0:
        raise NoKernelError(f"apt-get update failed: {_last_line(done.stderr)}")


def _output(argv: Sequence[str]) -> str:
    done = _run(argv)
    if done.returncode != 0 and argv[0] != "apt-cache":
        raise NoKernelError(f"{argv[0]} failed: {_last_line(done.stderr)}")
    return done.stdout


def _run(argv: Sequence[str], directory: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            argv,
            capture_output=True,
            text=True,
            check=False,
            cwd=directory,
            timeout=_DOWNLOAD_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        raise NoKernelError(f"{argv[0]} took more than {_DOWNLOAD_TIMEOUT_S} s") from None


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"
