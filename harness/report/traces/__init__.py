"""The page and the tables of traces: one, or two side by side."""
