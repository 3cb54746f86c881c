"""From bytes over time to what one iteration puts on the network."""
