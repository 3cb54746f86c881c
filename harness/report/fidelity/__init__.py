"""The page and the tables of a prediction against a reference."""
