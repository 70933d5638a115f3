"""Two files changing their names in one step, so that what was replaced is still in hand.

Source: renameat2(2) with RENAME_EXCHANGE; renamex_np(2) with RENAME_SWAP on macOS.
"""

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100
_EXCHANGE = 2  # the same number in both systems
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOENT)


def exchange(one: Path, other: Path) -> bool:
    """Let two files take each other's name.

    False, and nothing done, where system or file system cannot, or one of them is not there.
    Raises OSError where they can, but not with these files.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    if hasattr(libc, "renameat2"):
        code = libc.renameat2(_AT_FDCWD, first, _AT_FDCWD, second, _EXCHANGE)
    elif hasattr(libc, "renamex_np"):
        code = libc.renamex_np(first, second, _EXCHANGE)
    else:
        return False
    if code == 0:
        return True
    fault = ctypes.get_errno()
    if fault in _CANNOT:
        return False
    raise OSError(fault, os.strerror(fault), str(one), None, str(other))
