"""How jobs fit onto servers: compiled loops over plain arrays."""
