"""Pollux: jobs with as many GPUs, and batches as large, as make the cluster progress most.

(Qiao et al., OSDI'21.) `goodput` says how fast a job makes progress on given GPUs, `fit` learns
that from observed iterations, `search` improves placements of all jobs by a genetic algorithm,
`policy` puts them together, and `candidates` are placements that it holds equal.
"""
