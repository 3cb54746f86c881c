"""Real training jobs, small enough for two cores: to profile, and to compare replays with."""
