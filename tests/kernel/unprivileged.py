"""Runs commands as a user who is not root, also where root's home holds the interpreter."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = 65534

# $1: a directory that others may not search, or nothing; $2, up to --: what is shown below it all
# the same, in a mount namespace that ends with the command.
_SHOW = """
closed=$1; shift
if [ -n "$closed" ]; then mount --no-mtab -t tmpfs tmpfs /mnt; fi
count=0
for shown in "$@"; do
    if [ "$shown" = -- ]; then break; fi
    mkdir /mnt/$count
    mount --no-mtab --rbind "$shown" /mnt/$count
    count=$((count + 1))
done
if [ -n "$closed" ]; then mount --no-mtab -t tmpfs -o mode=755 tmpfs "$closed"; fi
count=0
while [ "$1" != -- ]; do
    mkdir -p "$1"
    mount --no-mtab --rbind /mnt/$count "$1"
    count=$((count + 1))
    shift
done
shift
exec "$@"
"""


def as_user(*command: str | Path) -> list[str]:
    """``command`` as USER, with the process id that it is started with."""
    needed = {Path(sys.base_prefix), Path(sys.prefix).resolve(), Path(__file__).parents[2]}
    closed = sorted(
        {parent for path in needed for parent in path.parents if not _searchable(parent)}
    )[:1]
    shown = sorted(path for path in needed if closed and path.is_relative_to(closed[0]))
    outermost = [path for path in shown if not any(other in path.parents for other in shown)]
    ids = (f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
    return [
        *("unshare", "--mount", "sh", "-ec", _SHOW, "sh"),
        *(str(closed[0]) if closed else "", *map(str, outermost), "--"),
        *("setpriv", *ids, *map(str, command)),
    ]


def _searchable(directory: Path) -> bool:
    return bool(directory.stat().st_mode & stat.S_IXOTH)


@contextmanager
def directory_of_user() -> Iterator[Path]:
    """A directory that is the user's, in a place that the user can reach."""
    with tempfile.TemporaryDirectory(prefix="rootless-") as name:
        os.chown(name, USER, USER)
        yield Path(name)


def environment_of_user(home: Path, **changes: str) -> dict[str, str]:
    """This environment with the user's own home."""
    return {**os.environ, "HOME": str(home), **changes}


def why_not(*command: str | Path) -> str | None:
    """Why ``command`` cannot run as USER."""
    done = subprocess.run(as_user(*command), capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip() or "it failed"
