"""Drawings of demands: of one job's iteration, and of jobs that share a link."""
