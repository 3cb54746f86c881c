"""How many workers a loader has, for the CPUs that it may use."""

from __future__ import annotations

import math


def workers_for(cpus: float) -> int:
    """One for each CPU, one for a part of a CPU, and one more.

    A worker fetches and decodes one item after the other, so it uses at most one CPU, and none
    while it waits for storage. A part of a CPU needs a worker of its own (the quota of the control
    group holds it to that part), and the one more keeps the CPUs busy while another one waits. Many
    more would only take memory and context switches: Synergy and CoorDL use one for each CPU.

    cpus: above 0, of the whole training process.
    """
    return math.ceil(cpus) + 1
