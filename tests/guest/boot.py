"""Boots a kernel over this machine's own files, and runs one Python module in it."""

from __future__ import annotations

import compileall
import os
import shlex
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.guest.stock_kernel import StockKernel

CHECKOUT = Path(__file__).parents[2]
VIRTME = Path(sys.executable).with_name("vng")
QEMU = "qemu-system-x86_64"
TIMEOUT_S = 300.0
_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))

# numpy wants instructions that qemu emulates in its "max" only.
_QEMU_OPTIONS = "-cpu max -accel tcg,thread=multi"
# The guest needs no guests of its own, and getting ready for them takes it seconds.
_KERNEL_OPTIONS = "module_blacklist=kvm,kvm_amd"

# The guest's root is the machine's, over 9p without a cache: an import then takes a minute. So the
# folders with Python code are mounted once more, read-only and cached. virtme-ng mounts them
# without a cache too, somewhere else, and a 9p tag can be mounted in one place only.
_MOUNT_CODE = """\
umount {elsewhere}
mkdir -p {place}
mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose {tag} {place}
"""
_START = """\
set -e
{mounts}
cd {checkout}
export PYTHONDONTWRITEBYTECODE=1
export NUMBA_DISABLE_JIT=1  # without a writable cache each command would compile for a minute
exec {python} -m tests.guest.inside {output} {version}
"""


def boot(kernel: StockKernel, output: Path, cgroup_version: int) -> str:
    """Run tests.guest.inside in a guest that can write to ``output``; return the console's text.

    Whether it came to its end is to be seen in ``output``.
    """
    directories = _code_directories()
    for directory in directories:
        if directory != _STANDARD_LIBRARY:
            # The guest can keep no bytecode, and to compile a package takes it a minute.
            compileall.compile_dir(directory, quiet=2)
    places = {f"/run/code{index}": path for index, path in enumerate(directories)}
    mounts = [
        # virtme-ng numbers what it mounts: the writable folder first.
        _MOUNT_CODE.format(
            elsewhere=elsewhere, tag=f"virtme.initmount{index}", place=shlex.quote(str(place))
        )
        for index, (elsewhere, place) in enumerate(places.items(), start=1)
    ]
    script = output / "start.sh"
    words = {
        "mounts": "".join(mounts),
        "checkout": shlex.quote(str(CHECKOUT)),
        "python": shlex.quote(sys.executable),
        "output": shlex.quote(str(output)),
        "version": str(cgroup_version),
    }
    script.write_text(_START.format(**words))
    process = subprocess.Popen(
        _command(kernel, places, output, script),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,  # qemu opens its output anew, and in a file it would overwrite
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=os.environ | {"PATH": f"{VIRTME.parent}:{os.environ['PATH']}"},
        start_new_session=True,
    )
    note = ""
    try:
        console, _ = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        note = f"\nstopped after {TIMEOUT_S:.0f} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            console, _ = process.communicate()
    return console + note


def _command(
    kernel: StockKernel, places: dict[str, Path], output: Path, script: Path
) -> tuple[str, ...]:
    # vng puts its options into a shell's line as they are.
    return (
        str(VIRTME),
        f"--run={shlex.quote(str(kernel.image))}",
        f"--busybox={shlex.quote(str(kernel.busybox))}",
        *("--disable-kvm", "--force-9p", "--verbose", "--cwd=/", "--cpus=2", "--memory=2G"),
        f"--qemu-opts={_QEMU_OPTIONS}",
        f"--append={_KERNEL_OPTIONS}",
        *(f"--rodir={elsewhere}={shlex.quote(str(place))}" for elsewhere, place in places.items()),
        f"--rwdir={shlex.quote(str(output))}",
        f"--exec=bash {shlex.quote(str(script))}",
    )


def _code_directories() -> list[Path]:
    """Where Python, its packages and this checkout are; none inside another."""
    packages = (Path(sysconfig.get_path(name)) for name in ("purelib", "platlib"))
    wanted = {CHECKOUT, _STANDARD_LIBRARY, *packages}
    return sorted(path for path in wanted if not wanted & set(path.parents))
