"""The built-in models, to train for real."""
