"""CASSINI (Rajasekaran, Ghobadi and Akella, NSDI'24): time-shifts for jobs that share links.

From bottom to top: ``periods`` (one period a job), ``circle`` (the jobs of a link on one circle),
``rotation`` with ``search`` (the best rotation of a link, section 3), ``affinity`` (from rotations
to one time-shift a job, section 4), ``links`` (what meets where on a cluster), ``interleaving``
(one placement) and ``ranking`` (several, Algorithm 2), with ``memo`` for what they have in common.
A shift is a delay, in seconds, everywhere.
"""
