"""What a directory of simulated rounds has in it."""

ROUNDS_FILES = {
    "jobs.parquet", "provenance.json", "report.html", "rounds.parquet", "scenario.yaml",
    "summary.json", "timeline.json",
}  # fmt: skip
