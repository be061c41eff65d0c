"""Identifiers: UUIDv7 (RFC 9562), so that newer ids sort after older ones."""

import hashlib
import os
import threading
import time
from datetime import datetime
from uuid import UUID

_lock = threading.Lock()
_last = 0


def new_id() -> UUID:
    """A new UUIDv7, greater than every id this process made before it.

    48 bits of milliseconds, then a 12-bit fraction of the millisecond (RFC 9562, 6.2 method 3)
    which also serves as counter when two calls fall into one step.
    """
    global _last
    with _lock:
        millis, nanos = divmod(time.time_ns(), 1_000_000)
        stamp = (millis << 12) | (nanos << 12) // 1_000_000
        _last = stamp = max(stamp, _last + 1)
    tail = int.from_bytes(_random_bytes()) & (1 << 62) - 1
    return UUID(int=(stamp >> 12) << 80 | 7 << 76 | (stamp & 0xFFF) << 64 | 2 << 62 | tail)


def derived_id(at: datetime, *names: object) -> UUID:
    """A UUIDv7 for this moment whose other bits follow from `names`: repeated work makes the same id again."""
    digest = hashlib.sha256("\0".join(map(str, names)).encode()).digest()
    stamp = int(at.timestamp() * 1000) & (1 << 48) - 1
    random_a, tail = int.from_bytes(digest[:2]) & 0xFFF, int.from_bytes(digest[2:10]) & (1 << 62) - 1
    return UUID(int=stamp << 80 | 7 << 76 | random_a << 64 | 2 << 62 | tail)


def new_short_id() -> str:
    """64 random bits as hexadecimal digits, for what is not stored."""
    return _random_bytes().hex()


_pool: list[bytes] = []


def _random_bytes() -> bytes:
    # One call to the system for many ids; a forked child must not repeat its parent's.
    try:
        return _pool.pop()
    except IndexError:
        fresh = os.urandom(8 * 256)
        _pool.extend(fresh[start : start + 8] for start in range(8, len(fresh), 8))
        return fresh[:8]


os.register_at_fork(after_in_child=_pool.clear)
