"""Decides, predicts, compares and shows. See README.md."""
