"""Pollux' simulator: measured applications, the jobs that train them, and the cluster of both."""
