"""A scenario of rounds from file to run directory."""
