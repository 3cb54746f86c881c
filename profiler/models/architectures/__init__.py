"""The built-in models' networks, one file a family; each is loaded when one of its models is."""
