"""Two renames that Python does not offer: one that swaps two files, one that never replaces a file."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable

_CALL, _NO_REPLACE, _SWAP = ("renameatx_np", 4, 2) if sys.platform == "darwin" else ("renameat2", 1, 2)
_NOT_OFFERED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def exchange(folder: int, one: str, other: str) -> bool:
    """Swaps two files of an open folder in one step; False when the system or the file system cannot."""
    return _renamed(folder, one, other, _SWAP)


def place(folder: int, temp: str, name: str) -> bool:
    """Renames to a name that is free, or raises FileExistsError; False when it cannot be done in one step."""
    return _renamed(folder, temp, name, _NO_REPLACE)


def _system_call() -> Callable[..., int] | None:
    call = getattr(ctypes.CDLL(None, use_errno=True), _CALL, None)  # absent from old C libraries
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call


_rename = _system_call()


def _renamed(folder: int, old: str, new: str, flag: int) -> bool:
    if _rename is None:
        return False
    if _rename(folder, os.fsencode(old), folder, os.fsencode(new), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_OFFERED:
        return False
    raise OSError(code, os.strerror(code), new)
