"""The figures of traces, one file each."""
