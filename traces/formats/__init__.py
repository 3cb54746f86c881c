"""Importers of other tools' traces, one format each."""
