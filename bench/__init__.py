"""Measures what exists so far: `make bench [ONLY=area]`, bench/results.json."""
