"""Boots a kernel over this machine's own files, and runs one Python module in it."""

from __future__ import annotations

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
TIMEOUT_S = 240.0

# numpy wants instructions that qemu emulates in its "max" only.
_QEMU_OPTIONS = "-cpu max -accel tcg,thread=multi"
# The guest needs no guests of its own, and getting ready for them takes it seconds.
_KERNEL_OPTIONS = "module_blacklist=kvm,kvm_amd"

# The guest's root is the machine's, over 9p without a cache: an import then takes a minute. So the
# folders with Python code are mounted again, read-only and cached.
_PRELUDE = """\
set -e
for place in {places}; do
    tag=$(findmnt --noheadings --output SOURCE "$place")
    umount "$place"
    mount -t 9p -o ro,trans=virtio,version=9p2000.L,msize=512000,cache=loose "$tag" "$place"
done
cd {checkout}
export PYTHONDONTWRITEBYTECODE=1
exec {python} -m tests.guest.inside {output}
"""


def boot(kernel: StockKernel, output: Path) -> str:
    """Run tests.guest.inside in a guest that can write to ``output``; return the console's text.

    Whether it came to its end is to be seen in ``output``.
    """
    places = _code_directories()
    script = output / "start.sh"
    words = {
        "places": shlex.join(map(str, places)),
        "checkout": shlex.quote(str(CHECKOUT)),
        "python": shlex.quote(sys.executable),
        "output": shlex.quote(str(output)),
    }
    script.write_text(_PRELUDE.format(**words))
    console = output / "console.txt"
    with console.open("w") as file:
        process = subprocess.Popen(
            _command(kernel, places, output, script),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=os.environ | {"PATH": f"{VIRTME.parent}:{os.environ['PATH']}"},
            start_new_session=True,
        )
        try:
            process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            file.write(f"\nstopped after {TIMEOUT_S:.0f} s\n")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return console.read_text(errors="replace")


def _command(
    kernel: StockKernel, places: list[Path], output: Path, script: Path
) -> tuple[str, ...]:
    # vng puts its options into a shell's line as they are.
    return (
        str(VIRTME),
        *("--run", shlex.quote(str(kernel.image)), "--busybox", shlex.quote(str(kernel.busybox))),
        *("--disable-kvm", "--force-9p", "--cpus", "2", "--memory", "2G", "--verbose"),
        *(f"--qemu-opts={_QEMU_OPTIONS}", f"--append={_KERNEL_OPTIONS}"),
        *(f"--rodir={shlex.quote(str(place))}" for place in places),
        f"--rwdir={shlex.quote(str(output))}",
        *("--exec", f"bash {shlex.quote(str(script))}"),
    )


def _code_directories() -> list[Path]:
    """Where Python, its packages and this checkout are; none inside another."""
    paths = sysconfig.get_paths()
    wanted = {CHECKOUT, *(Path(paths[name]) for name in ("stdlib", "purelib", "platlib"))}
    return sorted(path for path in wanted if not wanted & set(path.parents))
