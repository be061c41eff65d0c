"""Frames of AMQP 1.0 (parts 2, transport, and 5.3, SASL): made and read."""

import asyncio
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from penstock.connectors.amqp.decoding import Described, Malformed, first_value
from penstock.connectors.amqp.encoding import described, list_of

HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"
LARGEST = 1 << 16
"""Bytes of a frame that we take."""

_PREFIX = struct.Struct(">IBBH")
_AMQP, _SASL = 0, 1


class Performative(IntEnum):
    """What a frame says; the value is its descriptor."""

    OPEN = 0x10
    BEGIN = 0x11
    ATTACH = 0x12
    FLOW = 0x13
    TRANSFER = 0x14
    DISPOSITION = 0x15
    DETACH = 0x16
    END = 0x17
    CLOSE = 0x18
    SASL_MECHANISMS = 0x40
    SASL_INIT = 0x41
    SASL_OUTCOME = 0x44


class Frame(NamedTuple):
    """fields: by their positions in the standard; those left out at the end are missing. payload: what follows."""

    performative: Performative
    fields: Sequence[Any]
    payload: bytes = b""

    def field(self, position: int, default: Any = None) -> Any:
        value = self.fields[position] if position < len(self.fields) else None
        return default if value is None else value


EMPTY = _PREFIX.pack(_PREFIX.size, 2, _AMQP, 0)
"""A frame that only shows that the connection is alive."""


def frame(performative: Performative, fields: Sequence[bytes], payload: bytes = b"") -> bytes:
    """fields: encoded; channel 0 is the only one."""
    kind = _SASL if performative >= Performative.SASL_MECHANISMS else _AMQP
    body = described(performative, list_of(fields)) + payload
    return _PREFIX.pack(_PREFIX.size + len(body), 2, kind, 0) + body


async def read_frame(reader: asyncio.StreamReader) -> Frame | None:
    """The next frame, None for an empty one. Raises Malformed, IncompleteReadError, OSError."""
    size, offset, _, _ = _PREFIX.unpack(await reader.readexactly(_PREFIX.size))
    if not _PREFIX.size <= offset * 4 <= size <= LARGEST:
        raise Malformed(f"a frame says to have {size} bytes")
    body = (await reader.readexactly(size - _PREFIX.size))[offset * 4 - _PREFIX.size :]
    if not body:
        return None
    value, payload = first_value(body)
    if not isinstance(value, Described) or not isinstance(value.value, list):
        raise Malformed("a frame holds no performative")
    try:
        return Frame(Performative(value.code), value.value, payload)
    except ValueError:
        raise Malformed(f"there is no performative {value.code:#x}") from None
