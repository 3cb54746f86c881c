"""The profiler process: starts the training process and walks the points."""
