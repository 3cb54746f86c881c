"""What the profiler and the script that torch.profiler records agree on. Standard library only."""

DIRECTORY_VARIABLE = "ROUNDELAY_KINETO"
"""Of the environment: where traces go."""

RECORDED_ITERATIONS = 5
USED_ITERATIONS = RECORDED_ITERATIONS + 4
"""With the first one, one that is not looked at, one to warm up, and the one in which the trace is
written. None of them is counted."""
