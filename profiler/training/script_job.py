"""python -m profiler.training.script_job -- SCRIPT ARGUMENTS...: measures a script as it stands.

Also -- -m MODULE ARGUMENTS... The script needs no line for it (profiler.training.watched_loaders).
It ends with the exit code that it would have had.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import torch

from profiler.training.link import TrainingOverError
from profiler.training.main_module import run_as_main
from profiler.training.own_script import script_conductor
from profiler.training.protocol import Ended, OutOfMemory
from profiler.training.watched_loaders import WatchedLoaders
from traces.errors import BadInputError, RoundelayError


def run(words: Sequence[str]) -> int:
    """Run the script to its end, and say how it ended. The result is its exit code.

    Raises
    ------
    BadInputError: no profiler started this process, or there is no such script.
    """
    conductor = script_conductor()
    if conductor is None:
        raise BadInputError("no profiler is there to report to", allowed="roundelay profile -- ...")
    if not words or (words[0] != "-m" and not Path(words[0]).is_file()):
        raise BadInputError(f"no script {' '.join(words[:1])}", allowed="a Python file")
    with WatchedLoaders(conductor) as watched:
        code, reason = 0, ""
        try:
            run_as_main(words)
        except TrainingOverError:
            return 0
        except SystemExit as ended:
            code = _exit_code(ended)
            reason = f"the script ended with exit code {code}" if code else ""
        except Exception as error:
            if isinstance(error, torch.OutOfMemoryError):
                conductor.halt(OutOfMemory(str(error)))
            traceback.print_exc()
            code, reason = 1, f"{type(error).__name__}: {error}"
    if not conductor.is_engaged and not reason:
        reason = _why_never(watched)
    conductor.end(Ended(watched.trained_iterations, code, reason))
    return code


def _exit_code(ended: SystemExit) -> int:
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    print(ended.code, file=sys.stderr)
    return 1


def _why_never(watched: WatchedLoaders) -> str:
    if not watched.iterations:
        return "the script never iterated over a torch DataLoader"
    return (
        f"of {watched.iterations} iterations over DataLoaders none was followed by a backward pass"
    )


def main() -> int:
    words = sys.argv[1:]
    try:
        return run(words[1:] if words[:1] == ["--"] else words)
    except RoundelayError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
