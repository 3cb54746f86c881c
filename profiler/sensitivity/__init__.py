"""How speed depends on CPUs and memory, from few measured points. Pure but for its files."""
