"""A process that outlives its agent to kill what the agent leaves behind, even after kill -9.

Run as `python -m penstock.flow.commands.watchdog NAME VALUE` with the reading end of a pipe as standard input; the
agent holds the other end. When that closes, every process with NAME=VALUE in its environment is killed. A byte before
that says that the agent ends by itself, and has nothing under way.
"""

import os
import signal
import sys
import time

from penstock.flow.commands.orphans import sweep

# A command that was just being started when the agent died shows its environment a moment later, on a busy machine
# some moments later.
_LOOKS = 5
_LOOKS_AFTER_DEATH = 50
_PAUSE = 0.1


def watch(name: str, value: str) -> None:
    """Returns when the pipe has closed and no marked process is left."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    looks = _LOOKS_AFTER_DEATH
    while os.read(0, 1):
        looks = _LOOKS
    for _ in range(looks):
        sweep(name, value)
        time.sleep(_PAUSE)


if __name__ == "__main__":
    watch(sys.argv[1], sys.argv[2])
