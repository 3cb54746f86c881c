"""Job traces that are made up: seeded, with their formulae, one kind a file."""
