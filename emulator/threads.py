"""Threads of a forked child that cannot go on without any of them."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable


def run_or_end(loop: Callable[..., None], *arguments: object) -> None:
    """Run ``loop`` in a thread; where it fails, say why and end the whole process.

    Having lost a thread a child would stand still for ever; whoever holds its socket must see it
    end.
    """

    def run() -> None:
        try:
            loop(*arguments)
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)

    threading.Thread(target=run, daemon=True).start()
