"""The figures of the report, one kind a file."""
