"""What a user's own command writes: its beginning and its end in a file, however much it is."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import BinaryIO

from traces.errors import EmulationError, on_one_line

BEGINNING_BYTES = 2**20
END_BYTES = 2**20
"""That many at the end are always there, and twice as many at most."""

_PIPE_BYTES = 2**20
_LAST_BYTES = 4096


class CommandLog:
    """A pipe for the command to write to, and the file for what ``take`` finds in it.

    Between two calls of ``take`` the pipe holds 1 MiB; a command that writes more waits. What was
    taken is in the file, also where this process is killed.
    """

    def __init__(self, file: Path | None, user: tuple[int, int] | None) -> None:
        """file: a new one; None where only the last line is wanted. user: whose it becomes.

        Raises EmulationError where it cannot be made.
        """
        self._file = file
        self._stream = None if file is None else _new_file(file, user)
        self._end_begins = BEGINNING_BYTES
        self._left_out_bytes = 0
        self._last = b""
        self._read, self.writable = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._read, False)
        with contextlib.suppress(PermissionError):  # a user with many pipes: this one holds less
            fcntl.fcntl(self.writable, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def take(self) -> None:
        """Take what the command has written. Raises EmulationError where the file cannot be."""
        try:
            data = os.read(self._read, _PIPE_BYTES)
        except BlockingIOError:
            return
        self._last = (self._last + data)[-_LAST_BYTES:]
        if self._stream is None:
            return
        try:
            self._stream.write(data)
            if self._stream.tell() > self._end_begins + 2 * END_BYTES:
                self._leave_out(self._stream)
            self._stream.flush()
        except OSError as error:
            raise EmulationError(f"{self._file} cannot be written: {error.strerror}") from None

    def _leave_out(self, stream: BinaryIO) -> None:
        """Cut the middle, and say there how much it was."""
        self._left_out_bytes += stream.tell() - END_BYTES - self._end_begins
        stream.seek(-END_BYTES, os.SEEK_END)
        end = stream.read()
        stream.seek(BEGINNING_BYTES)
        stream.write(f"\n[{self._left_out_bytes:,} bytes are left out here]\n".encode())
        self._end_begins = stream.tell()
        stream.write(end)
        stream.truncate()

    def last_line(self) -> str:
        """The last line that is not empty, of what was taken; empty where nothing was."""
        lines = self._last.decode(errors="replace").splitlines()
        return on_one_line(next((line.strip() for line in reversed(lines) if line.strip()), ""))

    def __str__(self) -> str:
        """Where it is, as the end of a sentence."""
        return "" if self._file is None else f"; all that it wrote is in {self._file}"

    def close(self) -> None:
        """Both ends of the pipe, and the file."""
        os.close(self._read)
        os.close(self.writable)
        if self._stream is not None:
            self._stream.close()


def _new_file(file: Path, user: tuple[int, int] | None) -> BinaryIO:
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        if user is not None:
            os.fchown(descriptor, *user)
    except OSError as error:
        raise EmulationError(f"{file} cannot be made: {error.strerror}") from None
    return os.fdopen(descriptor, "w+b")
