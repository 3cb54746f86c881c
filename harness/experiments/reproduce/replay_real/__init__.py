"""Real training jobs beside the replays of the demands that were fitted to them."""
