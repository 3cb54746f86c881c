"""Synergy-OPT: an upper bound for what any allocation of CPUs and memory can reach.

(OSDI'22, equations 1 to 5 and the LP after them.) Two programmes: `configurations` chooses every
job's CPUs and memory as if all servers were one machine, and `mapping` lays the chosen jobs out
over the servers. Not a mechanism that can be deployed: jobs come out with fractions of GPUs.
"""
