"""What the recipes of CASSINI's experiments have in common (NSDI'24, section 5)."""
