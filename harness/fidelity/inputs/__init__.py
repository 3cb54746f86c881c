"""What a person hands to validate: run directories, tables, and what other simulators write."""
