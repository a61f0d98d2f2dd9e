"""Memory that was freed goes back to the system."""

import ctypes


def give_back_memory() -> None:
    """Return what is free, where the C library would keep it for later (glibc does).

    Between two pieces of work of other shapes, that may be a gigabyte which none of them uses.
    """
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):
        return
    trim(0)
