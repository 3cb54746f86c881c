"""What a real training job puts on the network, counted on emulated hosts or on real ones."""
