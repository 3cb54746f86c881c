"""Published experiments by name: one recipe a file, found through RECIPES."""
