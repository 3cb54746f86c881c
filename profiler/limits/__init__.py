"""Limits of the training process, what took effect, and what the machine can do."""
