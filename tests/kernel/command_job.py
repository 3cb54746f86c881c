"""A program of the user's own that takes part in a run, without torch."""

from __future__ import annotations

BYTES = 1e6 * 1514 / 1448
"""That each of its ranks sends in an iteration, with headers."""

# Computes for 100 ms and then exchanges 1 MB with the other rank, as a replayed job of this profile
# does; a replayed job has as much beside its data as this one: headers of frames.
TRAINING = """
import os, socket, threading, time
from emulator.iterations import iteration_done

rank = int(os.environ["RANK"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    other, _ = socket.create_server(place).accept()
else:
    while True:
        try:
            other = socket.create_connection(place)
            break
        except OSError:
            time.sleep(0.05)
data = bytes(1_000_000)
while True:
    time.sleep(0.1)
    sending = threading.Thread(target=other.sendall, args=(data,))
    sending.start()
    left = len(data)
    while left:
        left -= len(other.recv(min(left, 65536)))
    sending.join()
    print(f"rank {rank} is done")
    iteration_done()
"""
