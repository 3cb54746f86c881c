"""A shaped network of namespaces on this box. See README.md."""
