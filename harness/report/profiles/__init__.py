"""The pages and tables of what a real training was measured to need."""
