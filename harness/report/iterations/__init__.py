"""The report of a run of iterations: jobs that share links."""
