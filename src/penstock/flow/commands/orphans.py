"""Processes found by a marker in their environment, wherever they went, and killed.

Imports little: the watchdog, which runs beside every agent, is made of this.
"""

import os
import signal
import time


def marked(name: str, *values: str) -> list[int]:
    """Ids of the processes, other than this one, that were started with the variable set to one of `values`.

    Processes of other users cannot be seen into, and one that was started with another environment is not found.
    """
    markers = _markers(name, values)
    own = os.getpid()
    processes = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
    return [process for process in processes if process != own and _carries(process, markers)]


def sweep(name: str, *values: str, rounds: int = 1000) -> int:
    """Kills every process that carries a marker, until none is left; answers how many kills that took.

    A process can start others between the look and the kill, so it looks again, at most `rounds` times.
    Waits a little between rounds: not for use on an event loop.
    """
    markers = _markers(name, values)
    killed = 0
    for _ in range(rounds):
        count = sum(_kill(process, markers) for process in marked(name, *values))
        if not count:
            break
        killed += count
        time.sleep(0.005)
    return killed


def _markers(name: str, values: tuple[str, ...]) -> frozenset[bytes]:
    return frozenset(f"{name}={value}".encode() for value in values)


def _kill(process: int, markers: frozenset[bytes]) -> bool:
    """Whether the process was killed. Looks again through a pidfd, lest the id belong to another by now."""
    try:
        handle = os.pidfd_open(process)
    except OSError:
        return False
    try:
        if not _carries(process, markers):
            return False
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _carries(process: int, markers: frozenset[bytes]) -> bool:
    try:
        with open(f"/proc/{process}/environ", "rb") as environment:
            return not markers.isdisjoint(environment.read().split(b"\0"))
    except OSError:  # ended meanwhile, or another user's
        return False
