"""ECN marks at a threshold of a shaped port. See README.md."""
