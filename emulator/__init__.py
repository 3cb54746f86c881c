"""Real processes that stand for a cluster's jobs. See README.md."""
