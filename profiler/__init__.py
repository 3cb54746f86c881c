"""Measures real training processes. See README.md."""
