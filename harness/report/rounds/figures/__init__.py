"""The figures of a run of rounds, one kind a file."""
