"""NATS keys: Ed25519 seeds and public keys in the text form that NATS uses.

The form is base32 (no padding) of a prefix, the 32 bytes of key and a CRC-16/XMODEM, low byte first
(github.com/nats-io/nkeys). A public key's first letter tells its role, a seed's first two.
"""

import base64
import binascii
from enum import IntEnum
from typing import Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_SEED = 18 << 3
_KEY_BYTES = 32


class NKeyRole(IntEnum):
    """Whose key it is; the value is the prefix byte."""

    OPERATOR = 14 << 3
    ACCOUNT = 0
    USER = 20 << 3


class NKey:
    """A key pair. Never printed: its repr shows the public key only."""

    def __init__(self, role: NKeyRole, raw: bytes) -> None:
        self.role = role
        self._raw = raw
        self._private = Ed25519PrivateKey.from_private_bytes(raw)

    @classmethod
    def generate(cls, role: NKeyRole) -> Self:
        return cls(role, Ed25519PrivateKey.generate().private_bytes_raw())

    @classmethod
    def from_seed(cls, seed: str) -> Self:
        """Reads a seed like `SU...`. Raises ValueError, without the seed, when it is damaged."""
        body = _unpack(seed)
        if len(body) != _KEY_BYTES + 2 or body[0] & 0b11111000 != _SEED:
            raise ValueError("not a NATS seed")
        return cls(NKeyRole((body[0] & 0b111) << 5 | body[1] >> 3), body[2:])

    @property
    def seed(self) -> str:
        """The secret, like `SU...`."""
        return _pack(bytes([_SEED | self.role >> 5, (self.role & 0b11111) << 3]) + self._raw)

    @property
    def public(self) -> str:
        """The name that others know the key by, like `U...`."""
        raw = self._private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return _pack(bytes([self.role]) + raw)

    def sign(self, data: bytes) -> bytes:
        return self._private.sign(data)

    def __repr__(self) -> str:
        return f"NKey({self.public})"


def _pack(body: bytes) -> str:
    checked = body + binascii.crc_hqx(body, 0).to_bytes(2, "little")
    return base64.b32encode(checked).rstrip(b"=").decode()


def _unpack(text: str) -> bytes:
    try:
        body = base64.b32decode(text + "=" * (-len(text) % 8))[:-2]
    except (binascii.Error, ValueError):
        raise ValueError("not a NATS key") from None
    if _pack(body) != text:
        raise ValueError("a NATS key with a wrong checksum")
    return body
