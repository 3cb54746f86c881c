"""What runs in the processes of one worker: its input pipeline and its iterations."""
