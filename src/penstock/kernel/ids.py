"""Identifiers: UUIDv7 (RFC 9562), so that newer ids sort after older ones."""

import hashlib
import threading
import time
from datetime import datetime
from uuid import UUID

from penstock.kernel.entropy import random_bytes

_RANDOM = 8  # bytes
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
    tail = int.from_bytes(random_bytes(_RANDOM)) & (1 << 62) - 1
    return UUID(int=(stamp >> 12) << 80 | 7 << 76 | (stamp & 0xFFF) << 64 | 2 << 62 | tail)


def derived_id(at: datetime, *names: object) -> UUID:
    """A UUIDv7 for this moment whose other bits follow from `names`: repeated work makes the same id again."""
    digest = hashlib.sha256("\0".join(map(str, names)).encode()).digest()
    stamp = int(at.timestamp() * 1000) & (1 << 48) - 1
    random_a, tail = int.from_bytes(digest[:2]) & 0xFFF, int.from_bytes(digest[2:10]) & (1 << 62) - 1
    return UUID(int=stamp << 80 | 7 << 76 | random_a << 64 | 2 << 62 | tail)


def new_e_tag() -> str:
    """A value for an ETag that no other state of any entity has."""
    return random_bytes(2 * _RANDOM).hex()


def new_short_id() -> str:
    """64 random bits as hexadecimal digits, for what is not stored."""
    return random_bytes(_RANDOM).hex()
