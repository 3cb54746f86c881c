"""What is known: jobs, profiles, clusters, scenarios, results. See README.md."""
