"""The training process that is measured, and what it says to the profiler."""
