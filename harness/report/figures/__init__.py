"""What the figures of all kinds of runs have in common."""
