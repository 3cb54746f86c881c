"""From the bytes of stored items to the tensors that the built-in models take, and back."""
