"""Processes that end with the one that started them."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
# Loaded here: between fork and exec it might wait for a lock of the loader.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def asked_to_end_with(parent: int) -> Callable[[], None]:
    """Run in a child before its program: SIGTERM reaches it when the parent ends, however that happens. Linux only."""

    def ask_kernel() -> None:
        if _libc is not None:
            _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # it ended before we asked
                os._exit(1)

    return ask_kernel
