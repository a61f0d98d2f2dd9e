"""Let the process keep freed memory, as large tensors come and go at every step."""

import ctypes
import platform
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
"""The numbers in glibc's malloc.h."""


@cache
def keep_memory() -> bool:
    """Let glibc keep freed memory; return whether it will (only on Linux).

    Otherwise what is larger than 32 MB, such as the predicted words of a batch, is handed back to
    the system when it is freed, and asked for, and filled with zeros, at the next step. For workers
    that do one small run after the other: a heap that never shrinks may be torn to pieces in a long
    one.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_MAX, 0) and mallopt(M_TRIM_THRESHOLD, 2**31 - 1))
