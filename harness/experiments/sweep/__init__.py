"""Many variants of a scenario, on many cores or machines, into one dataset."""
