"""Values in the AMQP 1.0 type system (part 1, types), read from bytes."""

import struct
from typing import Any, NamedTuple

_DEEPEST = 32


class Malformed(Exception):
    """The bytes are no AMQP values."""


class Described(NamedTuple):
    """A value and what it is: the number of its descriptor."""

    code: int
    value: Any


_EMPTY: dict[int, Any] = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0}
_FIXED = {
    0x50: ">B",
    0x51: ">b",
    0x52: ">B",
    0x53: ">B",
    0x54: ">b",
    0x55: ">b",
    0x56: ">?",
    0x60: ">H",
    0x61: ">h",
    0x70: ">I",
    0x71: ">i",
    0x72: ">f",
    0x73: ">I",
    0x74: ">4s",
    0x80: ">Q",
    0x81: ">q",
    0x82: ">d",
    0x83: ">q",
    0x84: ">8s",
    0x94: ">16s",
    0x98: ">16s",
}
_TEXT = {0xA1: "utf-8", 0xB1: "utf-8", 0xA3: "ascii", 0xB3: "ascii"}
_LISTS, _MAPS, _ARRAYS = (0xC0, 0xD0), (0xC1, 0xD1), (0xE0, 0xF0)


def first_value(data: bytes) -> tuple[Any, bytes]:
    """The first value and the bytes behind it. Raises Malformed."""
    reader = _Reader(data)
    try:
        return reader.value(), data[reader.position :]
    except (struct.error, UnicodeDecodeError, IndexError, TypeError) as error:
        raise Malformed(str(error)) from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.position = 0
        self._depth = 0

    def value(self) -> Any:
        code = self._take(">B")
        return self._described() if code == 0 else self._of(code)

    def _described(self) -> Described:
        self._enter()
        descriptor, value = self.value(), self.value()
        self._depth -= 1
        if not isinstance(descriptor, int):
            raise Malformed("a descriptor is no number")
        return Described(descriptor, value)

    def _of(self, code: int) -> Any:
        if code in _EMPTY:
            return _EMPTY[code]
        if code == 0x45:
            return []
        if code in _FIXED:
            return self._take(_FIXED[code])
        wide = code & 0x10
        size = self._take(">I" if wide else ">B")
        if code in (0xA0, 0xB0):
            return self._bytes(size)
        if code in _TEXT:
            return self._bytes(size).decode(_TEXT[code])
        return self._compound(code, self._take(">I" if wide else ">B"))

    def _compound(self, code: int, count: int) -> Any:
        if count > len(self._data):
            raise Malformed("a list says to be longer than the frame")
        self._enter()
        if code in _ARRAYS:
            item = self._take(">B")
            values = [self._of(item) for _ in range(count)]
        elif code in _LISTS or code in _MAPS:
            values = [self.value() for _ in range(count)]
        else:
            raise Malformed(f"there is no type {code:#x}")
        self._depth -= 1
        return dict(zip(values[::2], values[1::2], strict=False)) if code in _MAPS else values

    def _take(self, form: str) -> Any:
        (value,) = struct.unpack_from(form, self._data, self.position)
        self.position += struct.calcsize(form)
        return value

    def _bytes(self, size: int) -> bytes:
        if self.position + size > len(self._data):
            raise Malformed("a value says to be longer than the frame")
        self.position += size
        return self._data[self.position - size : self.position]

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Malformed("values are nested too deeply")
