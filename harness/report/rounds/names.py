"""What the names in a scenario of rounds mean, for a reader who has not read the papers."""

from __future__ import annotations

POLICIES = {
    "fifo": "first come, first served",
    "srtf": "the job with the least running time left comes first",
    "srsf": "the job with the least GPU time left (running time times GPUs) comes first",
    "las": "the job that has had the least GPU time so far comes first",
    "ftf": "the job that sharing the cluster has slowed down the most comes first",
    "tiresias": "jobs that have had little GPU time come first, in a few queues by GPU time, so "
    "that jobs that are alike do not push one another off their GPUs",
    "drf": "the job that asks for the smallest share of the cluster, of whatever it needs most, "
    "comes first",
    "tetris": "the job with the least work left comes first, counted over GPUs, CPUs and memory",
    "srtf-published": "the least running time left comes first, as the simulator that Synergy's "
    "authors published reckons it",
    "ftf-published": "jobs in the order of their slow-down, as the simulator that Synergy's "
    "authors published has it",
}
"""Who comes first."""

MECHANISMS = {
    "proportional": "every job gets CPU and memory in proportion to its GPUs",
    "greedy": "every job gets all the CPU and memory that it runs best with, or waits while others "
    "pass it by",
    "tune": "every job gets the CPU and memory that it runs best with where that fits, and else no "
    "less than its proportional share",
    "opt": "linear programmes choose the shares of CPU and memory with which all jobs together run "
    "fastest, no job slower than with its proportional share; an upper bound to compare with",
    "tune-published": "tune, packed step by step as the simulator that Synergy's authors published "
    "packs it",
}
"""What it gets beside its GPUs."""

PLACEMENTS = {
    "best-fit": "on the fullest of the servers on which a job fits",
    "balanced": "on a server whose remaining GPUs then lack the least of a proportional share of "
    "CPU and memory",
    "super-machine": "nowhere in particular: the cluster counts as one machine that has all there "
    "is, which no real cluster does",
    "servers": "on servers that a second programme chooses; it may cut GPUs into fractions, which "
    "no real cluster can",
}
"""Where it runs."""

OPTIONS = {
    "completion": "End of a job",
    "progress": "Progress",
    "speeds": "Speeds",
    "restart": "Cost of a start",
    "checkpoint": "Cost of a checkpoint",
    "restarts": "Who pays it",
    "profiling": "Profiling",
}
"""Titles of the simulation's options."""

CHOICES = {
    ("completion", "exact"): "when its last iteration ends",
    ("completion", "round-end"): "at the end of the round in which its last iteration ends",
    ("progress", "continuous"): "iterations go on from round to round",
    ("progress", "whole-iterations"): "every round holds a whole number of iterations",
    ("speeds", "matrix"): "from tables of speed by CPU and memory",
    ("speeds", "two-point"): "one speed with the proportional share, another with the best",
    ("restarts", "new-leases"): "a job whose GPUs or shares change",
    ("restarts", "all"): "all jobs, whenever the share of any of them changes",
}
"""What an option that is a word means."""

COSTS = {
    "restart": "lost whenever a job starts or its GPUs or shares change",
    "checkpoint": "lost besides by a job that has run before",
    "profiling": "before a new job can first run",
}
"""What an option that is a time means."""

FIGURES = {
    "opt_solutions": "Times that the first programme was solved (same jobs, same solution)",
    "opt_solve_mean_s": "Time to solve it, mean",
    "opt_solve_max_s": "Time to solve it, longest",
    "opt_gap_max": "How far a solution may be from the best, at most",
    "opt_map_mean_s": "Time to find servers, mean",
    "opt_fragmented_jobs_max": "Jobs that were spread over servers at once, at most",
    "opt_jobs_with_fractional_gpus": "Times that a job was given a fraction of a GPU",
}
"""The figures that mechanisms report."""


def meaning(names: dict[str, str], name: str) -> str:
    """What ``name`` means; itself where that is not known."""
    return names.get(name, name)
