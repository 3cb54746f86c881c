"""Root's rights over a network of its own, without root: a command inside new namespaces.

``python -m netshaper.rootless COMMAND ...`` enters a user, a network and a mount namespace and then
becomes COMMAND, with the same process id; all of it is gone when the last process in it ends.
(user_namespaces(7), mount_namespaces(7))
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from netshaper.namespace_limits import read_limits, remedy
from netshaper.private_run import lay_private_run
from traces.caller import calling_user
from traces.errors import MissingCapabilityError

NAMESPACE_VARIABLE = "ROUNDELAY_USER_NAMESPACE"
"""Names the user namespace that was entered: whoever inherits it elsewhere is not inside."""

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_PR_SET_DUMPABLE = 4
_TIMEOUT_S = 30.0


def is_rootless() -> bool:
    """Whether this process is in a user namespace that ``enter_rootless`` made."""
    entered = os.environ.get(NAMESPACE_VARIABLE)
    return entered is not None and entered == _user_namespace()


def restart_rootless() -> NoReturn:
    """Become this very command once more, inside. Where that cannot be, exits with 3 and one line.

    The way leads through a small program, for a process with threads (numpy's) may not enter a user
    namespace.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, _inside(sys.executable, *sys.orig_argv[1:]))  # noqa: S606 - no shell


def rootless_refusal() -> str | None:
    """Why this user cannot have a rootless run here, or None. Tried in a child, which then ends."""
    trial = _inside("ip", "netns", "add", "trial")  # in a /run of its own
    try:
        done = subprocess.run(
            trial, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"a trial hung for {_TIMEOUT_S} s"
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"]
    return lines[-1].removeprefix("roundelay: ")


def _inside(*command: str) -> list[str]:
    # Isolated: the current folder and PYTHONPATH may not say what runs here.
    return [sys.executable, "-I", "-m", "netshaper.rootless", *command]


def _user_namespace() -> str:
    return os.readlink("/proc/self/ns/user")  # noqa: PTH115 - not a path, but a name and a number


def enter_rootless() -> None:
    """Move this process, which must have one thread, into namespaces of its own, as their root.

    Raises MissingCapabilityError where this user may not.
    """
    _become_caller()
    with _refused("user namespaces are not allowed here"):
        _enter_namespaces()
    with _refused("mounting is not allowed in a user namespace here"):
        lay_private_run()
    os.environ[NAMESPACE_VARIABLE] = _user_namespace()


@contextlib.contextmanager
def _refused(lacking: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MissingCapabilityError(
            f"{lacking} ({error.strerror})", remedy=remedy(error.errno, read_limits())
        ) from None


def _become_caller() -> None:
    """Under sudo, be the user who called: no other user exists inside, to give results to."""
    caller = calling_user(os.environ)
    for name in ("SUDO_UID", "SUDO_GID"):
        os.environ.pop(name, None)
    if os.geteuid() != 0 or caller is None:
        return
    uid, gid = caller
    os.setgroups([])
    with contextlib.suppress(KeyError):  # a user of a container that its /etc/passwd does not name
        user = pwd.getpwuid(uid)
        os.initgroups(user.pw_name, gid)
        os.environ["HOME"] = user.pw_dir  # sudo may have left root's there
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    # What changed its user owns its own /proc/self/uid_map only if it may be dumped.
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1)


def _enter_namespaces() -> None:
    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWNS) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    own = Path("/proc/self")
    (own / "uid_map").write_text(f"0 {uid} 1")
    (own / "setgroups").write_text("deny")  # or the kernel takes no map of groups from a user
    (own / "gid_map").write_text(f"0 {gid} 1")


def _main(command: list[str]) -> NoReturn:
    try:
        enter_rootless()
        os.execvp(command[0], command)  # noqa: S606 - no shell
    except MissingCapabilityError as error:
        print(f"roundelay: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:
        print(f"roundelay: {command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(MissingCapabilityError.exit_code)


if __name__ == "__main__":
    _main(sys.argv[1:])
