"""A process that outlives its agent to kill what the agent leaves behind, even after kill -9.

Run as `python -m penstock.flow.watchdog NAME VALUE` with the reading end of a pipe as standard input; the agent
holds the other end. When that closes, every process with NAME=VALUE in its environment is killed.
"""

import os
import signal
import sys
import time

from penstock.flow.orphans import sweep

# A command that the agent was just starting shows its environment a moment later.
_LOOKS = 5
_PAUSE = 0.1


def watch(name: str, value: str) -> None:
    """Returns when the pipe has closed and no marked process is left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    while os.read(0, 1):
        pass
    for _ in range(_LOOKS):
        sweep(name, value)
        time.sleep(_PAUSE)


if __name__ == "__main__":
    watch(sys.argv[1], sys.argv[2])
