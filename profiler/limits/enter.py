"""Puts itself into cgroups and then becomes another command, so that nothing of it is outside.

python -m profiler.limits.enter GROUP... -- COMMAND...
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from emulator.cgroups import join_group

_CANNOT_RUN = 126  # as a shell says it
_NOT_FOUND = 127


def entering(groups: Sequence[Path], command: Sequence[str]) -> tuple[str, ...]:
    """The words that run ``command`` in ``groups``."""
    if not groups:
        return tuple(command)
    # -P: not what lies in the current directory under our names.
    own = (sys.executable, "-P", "-m", "profiler.limits.enter")
    return (*own, *map(str, groups), "--", *command)


def main(arguments: Sequence[str]) -> int:
    """Returns only where the command cannot be run."""
    at = arguments.index("--")
    groups, command = arguments[:at], arguments[at + 1 :]
    try:
        for group in groups:
            join_group(Path(group))
        os.execvp(command[0], list(command))  # noqa: S606 - a list of words; there is no shell
    except FileNotFoundError as error:
        print(f"{error.filename or command[0]}: not found", file=sys.stderr)
        return _NOT_FOUND
    except OSError as error:
        print(f"{error.filename or command[0]}: {error.strerror}", file=sys.stderr)
        return _CANNOT_RUN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
