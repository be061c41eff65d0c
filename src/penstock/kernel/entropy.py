"""Random bytes of the system, fetched in advance."""

import os

_CHUNK = 8
_CHUNKS = 512
_pool: list[bytes] = []


def random_bytes(count: int) -> bytes:
    """As `os.urandom`, fit for secrets; each byte is given once.

    A call to the system hands the interpreter's lock to other threads, so one call serves many of ours.
    """
    if count == _CHUNK:
        return _chunk()
    return b"".join([_chunk() for _ in range(-(-count // _CHUNK))])[:count]


def _chunk() -> bytes:
    # Not a slice of one buffer: taking from a list is safe between threads.
    try:
        return _pool.pop()
    except IndexError:
        fresh = os.urandom(_CHUNK * _CHUNKS)
        _pool.extend(fresh[start : start + _CHUNK] for start in range(_CHUNK, len(fresh), _CHUNK))
        return fresh[:_CHUNK]


# A forked child must not repeat its parent's.
os.register_at_fork(after_in_child=_pool.clear)
