"""What `roundelay profile network --kineto` says of the traces of torch.profiler."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cli.show import console, print_warnings
from profiler.network.kineto_protocol import RECORDED_ITERATIONS
from profiler.network.kineto_recording import Recording
from traces.quantities import format_size


def recording_document(recording: Recording) -> dict[str, object]:
    """As plain data."""
    imported = recording.imported
    return {
        "trace": str(recording.trace),
        "problem": recording.problem,
        "iterations": 0 if imported is None else len(imported.iterations),
        "sent_bytes": recording.sent_bytes,
        "notes": [] if imported is None else list(imported.notes),
    }


def print_recordings(recordings: Sequence[Recording]) -> None:
    """What each rank sends by its collectives, beside what the counters say."""
    for recording in recordings:
        if recording.imported is None or recording.sent_bytes is None:
            print_warnings(
                [
                    f"{recording.trace.name} {recording.problem} (torch.profiler tells the sizes "
                    "of NCCL's collectives, and not of gloo's)"
                ]
            )
            continue
        console.print(
            f"by torch.profiler ({recording.trace.name}) a worker sends "
            f"{format_size(recording.sent_bytes)} in an iteration, without headers"
        )
        for note in recording.imported.notes:
            console.print(f"note: {note}", soft_wrap=True, markup=False)
    if not recordings:
        print_warnings(
            [
                f"torch.profiler recorded nothing: it takes {RECORDED_ITERATIONS} iterations after "
                "the first few, which end with steps of an optimizer or iteration_done()"
            ]
        )
