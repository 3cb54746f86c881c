"""Limits on the CPU and the memory of an emulated server's processes, kept by the kernel."""
