"""The figures of a prediction against a reference, one file each."""
