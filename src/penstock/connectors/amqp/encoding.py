"""Values in the AMQP 1.0 type system (part 1, types), as bytes."""

import struct
from collections.abc import Mapping, Sequence

NULL = b"\x40"
_TRUE, _FALSE = b"\x41", b"\x42"
_SMALL = 0xFF


def boolean(value: bool) -> bytes:
    return _TRUE if value else _FALSE


def ubyte(value: int) -> bytes:
    return struct.pack(">BB", 0x50, value)


def ushort(value: int) -> bytes:
    return struct.pack(">BH", 0x60, value)


def uint(value: int) -> bytes:
    return struct.pack(">BI", 0x70, value)


def ulong(value: int) -> bytes:
    return struct.pack(">BB", 0x53, value) if value <= _SMALL else struct.pack(">BQ", 0x80, value)


def long(value: int) -> bytes:
    return struct.pack(">Bq", 0x81, value)


def binary(value: bytes) -> bytes:
    return _variable(0xA0, value)


def string(value: str) -> bytes:
    return _variable(0xA1, value.encode())


def symbol(value: str) -> bytes:
    return _variable(0xA3, value.encode("ascii"))


def list_of(items: Sequence[bytes]) -> bytes:
    """items: encoded. Nulls at the end are left out, as the standard has it."""
    while items and items[-1] == NULL:
        items = items[:-1]
    return _compound(0xC0, b"".join(items), len(items)) if items else b"\x45"


def map_of(pairs: Mapping[bytes, bytes]) -> bytes:
    """pairs: encoded."""
    return _compound(0xC1, b"".join(key + value for key, value in pairs.items()), 2 * len(pairs))


def described(code: int, value: bytes) -> bytes:
    """A value with the numeric descriptor that says what it is."""
    return b"\x00" + ulong(code) + value


def _variable(code: int, content: bytes) -> bytes:
    if len(content) <= _SMALL:
        return struct.pack(">BB", code, len(content)) + content
    return struct.pack(">BI", code + 0x10, len(content)) + content


def _compound(code: int, content: bytes, count: int) -> bytes:
    if len(content) < _SMALL and count <= _SMALL:
        return struct.pack(">BBB", code, len(content) + 1, count) + content
    return struct.pack(">BII", code + 0x10, len(content) + 4, count) + content
