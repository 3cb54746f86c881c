"""The report of a run of rounds: a cluster that is scheduled round by round."""
