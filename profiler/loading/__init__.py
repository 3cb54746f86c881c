"""What feeds a training loop: stored items, the MinIO cache, loaders, and the iterator."""
