"""Secrets at rest: keys derived from one master key, and envelope encryption."""

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import NoReturn

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from penstock.kernel.errors import Unavailable

SHORTEST = 32  # bytes of a master key
_VERSION = b"\x01"
_KEY_ID = 8
_NONCE = 12
_WRAPPED = 32 + 16  # a data key and its tag
_HEADER = len(_VERSION) + _KEY_ID + _NONCE + _WRAPPED + _NONCE


class SecretUnreadable(Unavailable):
    """A stored secret cannot be opened: another master key sealed it, or it was damaged or moved."""

    code = "secret-unreadable"
    title = "A stored secret cannot be opened"


class Purpose(StrEnum):
    """What a derived key is for. No key serves two purposes."""

    TOKENS = "access tokens"
    REFRESH = "refresh tokens"
    SIGNING = "signatures for agents"
    ENVELOPE = "envelope encryption"
    KEY_PRINTS = "fingerprints of keys"


class MasterKey:
    """A master key: its id, which says nothing about it, and the keys derived from it (HKDF-SHA256)."""

    def __init__(self, master: bytes) -> None:
        if len(master) < SHORTEST:
            raise ValueError(f"a master key has at least {SHORTEST} bytes")
        self._keys = {purpose: _derive(master, purpose) for purpose in Purpose}
        self.id = _derive(master, "key id")[:_KEY_ID]
        self._envelope = AESGCM(self._keys[Purpose.ENVELOPE])

    def __repr__(self) -> str:
        return f"MasterKey({self.id.hex()})"

    def subkey(self, purpose: Purpose) -> bytes:
        """32 bytes."""
        return self._keys[purpose]

    def wrap(self, data_key: bytes, owner: bytes) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._envelope.encrypt(nonce, data_key, owner)

    def unwrap(self, wrapped: bytes, owner: bytes) -> bytes:
        """Raises InvalidTag."""
        return self._envelope.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], owner)


class Secrets:
    """Seals what is stored and derives the keys that the platform needs.

    A sealed secret is: version (1 byte), id of the master key (8), nonce (12), wrapped data key (48), nonce (12),
    ciphertext with tag; AES-256-GCM both times. Each secret has a data key of its own; the owner's name is bound to it.

    master: seals and derives. previous: master keys that were used before and may still open what they sealed.
    """

    def __init__(self, master: bytes, previous: Sequence[bytes] = ()) -> None:
        """Raises ValueError for a key that is too short."""
        self._current = MasterKey(master)
        self._known = {key.id: key for key in [*map(MasterKey, previous), self._current]}

    def __repr__(self) -> str:
        return f"Secrets({self.key_id})"

    @property
    def key_id(self) -> str:
        """Names the current master key; may be shown."""
        return self._current.id.hex()

    @property
    def rotated(self) -> bool:
        """Whether other master keys came before the current one."""
        return len(self._known) > 1

    def subkey(self, purpose: Purpose) -> bytes:
        """32 bytes derived from the current master key."""
        return self._current.subkey(purpose)

    def subkeys(self, purpose: Purpose) -> dict[str, bytes]:
        """The keys of every master key known, by its id: what was made before a rotation still holds."""
        return {id.hex(): key.subkey(purpose) for id, key in self._known.items()}

    @property
    def signing_seed(self) -> bytes:
        """The 32 bytes that make the servers' Ed25519 key."""
        return self.subkey(Purpose.SIGNING)

    def seal(self, plain: bytes, owner: str) -> bytes:
        """Encrypts. owner: what the secret belongs to, such as `variables/<id>`; it only opens for the same owner."""
        data_key, nonce = os.urandom(32), os.urandom(_NONCE)
        bound = _bound(owner)
        wrapped = self._current.wrap(data_key, bound)
        return _VERSION + self._current.id + wrapped + nonce + AESGCM(data_key).encrypt(nonce, plain, bound)

    def open(self, sealed: bytes, owner: str) -> bytes:
        """Decrypts. Raises SecretUnreadable."""
        data_key, nonce, ciphertext = self._unwrapped(sealed, owner)
        try:
            return AESGCM(data_key).decrypt(nonce, ciphertext, _bound(owner))
        except InvalidTag:
            _damaged(owner)

    def is_current(self, sealed: bytes) -> bool:
        """Whether the current master key sealed it."""
        return sealed.startswith(_VERSION + self._current.id)

    def reseal(self, sealed: bytes, owner: str) -> bytes:
        """The same secret under the current master key; only the data key is wrapped anew. Raises SecretUnreadable."""
        data_key, nonce, ciphertext = self._unwrapped(sealed, owner)
        return _VERSION + self._current.id + self._current.wrap(data_key, _bound(owner)) + nonce + ciphertext

    def _unwrapped(self, sealed: bytes, owner: str) -> tuple[bytes, bytes, bytes]:
        if len(sealed) < _HEADER or not sealed.startswith(_VERSION):
            _damaged(owner)
        id, rest = sealed[1 : 1 + _KEY_ID], sealed[1 + _KEY_ID :]
        key = self._known.get(id)
        if key is None:
            raise SecretUnreadable(f"the secret of {owner} was sealed with the key {id.hex()}, not {self.key_id}")
        end = _NONCE + _WRAPPED
        try:
            data_key = key.unwrap(rest[:end], _bound(owner))
        except InvalidTag:
            _damaged(owner)
        return data_key, rest[end : end + _NONCE], rest[end + _NONCE :]


def _derive(master: bytes, purpose: str) -> bytes:
    return HKDF(SHA256(), length=32, salt=None, info=f"penstock {purpose}".encode()).derive(master)


def _bound(owner: str) -> bytes:
    return _VERSION + owner.encode()


def _damaged(owner: str) -> NoReturn:
    raise SecretUnreadable(f"the secret of {owner} is damaged or belongs to something else")
