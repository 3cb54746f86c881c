"""The bpf system call through ctypes: maps and programs (include/uapi/linux/bpf.h).

Each function raises OSError with the kernel's error number. Every descriptor is closed on exec.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from dataclasses import dataclass

_CALL_NUMBERS = {"x86_64": 321, "aarch64": 280}
_MAP_CREATE, _MAP_LOOKUP, _PROG_LOAD = 0, 1, 5
_PROG_OF_ID, _MAP_OF_ID, _INFO_OF = 13, 14, 15
_MAP_TYPE_ARRAY = 2
_MAPPABLE = 1 << 10
_PROG_TYPE_SCHED_CLS = 3
_LOG_BYTES = 2**18
_NAME_BYTES = 16
# struct bpf_prog_info: type, id, tag, four counts and pointers, load_time, created_by_uid,
# nr_map_ids, map_ids; the kernel fills as much of it as it is given room for.
_PROGRAM_INFO = struct.Struct("=II8s2I2QQ2IQ")
_libc = ctypes.CDLL(None, use_errno=True)


class RejectedProgramError(Exception):
    """The kernel's verifier did not accept a program; the text is its log."""


@dataclass(frozen=True)
class ProgramInfo:
    """A loaded program: its id, and those of the maps that it uses."""

    program_id: int
    map_ids: tuple[int, ...]


def create_array(name: str, value_bytes: int) -> int:
    """A descriptor of a new array map with one value, all zeros, which can be mapped to memory."""
    named = struct.pack("=5I4x4x16s", _MAP_TYPE_ARRAY, 4, value_bytes, 1, _MAPPABLE, _short(name))
    return _bpf(_MAP_CREATE, named)


def load_classifier(name: str, code: bytes) -> int:
    """A descriptor of a program for traffic control. RejectedProgramError with what is wrong."""
    try:
        return _load(name, code, None)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EINVAL):
            raise
    log = ctypes.create_string_buffer(_LOG_BYTES)
    try:
        return _load(name, code, log)
    except OSError as error:
        text = log.value.decode(errors="replace").strip()
        raise RejectedProgramError(text or os.strerror(error.errno or 0)) from None


def read_array(descriptor: int, value_bytes: int) -> bytes:
    """The one value of an array map."""
    key = ctypes.c_uint32(0)
    value = ctypes.create_string_buffer(value_bytes)
    _bpf(
        _MAP_LOOKUP,
        struct.pack("=I4xQQQ", descriptor, ctypes.addressof(key), ctypes.addressof(value), 0),
    )
    return value.raw


def program_info(descriptor: int) -> ProgramInfo:
    """What the kernel says about a program; of its maps, at most one."""
    maps = (ctypes.c_uint32 * 1)()
    info = ctypes.create_string_buffer(
        _PROGRAM_INFO.pack(0, 0, bytes(8), 0, 0, 0, 0, 0, 0, len(maps), ctypes.addressof(maps)),
        _PROGRAM_INFO.size,
    )
    _bpf(_INFO_OF, struct.pack("=IIQ", descriptor, len(info), ctypes.addressof(info)))
    fields = _PROGRAM_INFO.unpack(info.raw)
    return ProgramInfo(fields[1], tuple(maps)[: fields[9]])


def open_program(program_id: int) -> int:
    """A descriptor of a program by its id. FileNotFoundError where there is none."""
    return _bpf(_PROG_OF_ID, struct.pack("=III", program_id, 0, 0))


def open_map(map_id: int) -> int:
    """A descriptor of a map by its id. FileNotFoundError where there is none."""
    return _bpf(_MAP_OF_ID, struct.pack("=III", map_id, 0, 0))


def _load(name: str, code: bytes, log: ctypes.Array[ctypes.c_char] | None) -> int:
    instructions = ctypes.create_string_buffer(code, len(code))
    licence = ctypes.create_string_buffer(b"GPL")
    wanted = struct.pack(
        "=IIQQIIQII16s",
        *(
            _PROG_TYPE_SCHED_CLS,
            len(code) // 8,
            ctypes.addressof(instructions),
            ctypes.addressof(licence),
        ),
        *((0, 0, 0) if log is None else (1, len(log), ctypes.addressof(log))),
        *(0, 0, _short(name)),
    )
    return _bpf(_PROG_LOAD, wanted)


def _short(name: str) -> bytes:
    return name.encode()[: _NAME_BYTES - 1]


def _bpf(command: int, attributes: bytes) -> int:
    number = _CALL_NUMBERS.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, f"no number of the call is known on {platform.machine()}")
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    words = (ctypes.c_long(command), ctypes.byref(buffer), ctypes.c_long(len(attributes)))
    result: int = _libc.syscall(ctypes.c_long(number), *words)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
