"""The figures of a run of iterations, one kind a file."""
