"""A command as the user who called has it: behind sudo without root's rights."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from traces.caller import calling_user
from traces.errors import MissingCapabilityError


def as_caller(command: Sequence[str]) -> tuple[str, ...]:
    """The words that run ``command`` as the user who called, ending with its parent.

    MissingCapabilityError where that needs setpriv, and it is not there.
    """
    user = calling_user(os.environ)
    if os.geteuid() != 0 or user is None:
        return tuple(command)
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise MissingCapabilityError(
            "a training under sudo runs as the user who called, which needs setpriv",
            remedy="install util-linux (apt-get install util-linux)",
        )
    uid, gid = user
    # The kernel forgets the signal at the parent's death when the user changes.
    words = ("--reuid", str(uid), "--regid", str(gid), "--init-groups", "--pdeathsig", "KILL")
    return (setpriv, *words, "--", *command)
