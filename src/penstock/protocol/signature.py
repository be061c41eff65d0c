"""Signatures of answers to agents, so that no other party on the bus can hand an agent work."""

from base64 import b64decode, b64encode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

HEADER = "Penstock-Signature"
NONCE = "Penstock-Nonce"
"""Header of a request: text that the agent never used before."""


def challenge(subject: str, nonce: str) -> str:
    """What an answer's signature is bound to: the subject of its request and the nonce that came with it.

    Not the reply subject: between the agents' account and the platform's the bus replaces it.
    """
    return f"{subject} {nonce}"


class Signer:
    """Signs as the servers. seed: 32 bytes, the same on every replica."""

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)

    @property
    def public_key(self) -> str:
        """What agents verify with, base64 of 32 bytes."""
        return b64encode(self._key.public_key().public_bytes_raw()).decode()

    def sign(self, subject: str, body: bytes) -> str:
        """The header value. subject: the request's `challenge`, unique to it, so that an answer cannot be replayed."""
        return b64encode(self._key.sign(subject.encode() + b"\n" + body)).decode()


def verified(public_key: str, subject: str, body: bytes, signature: str) -> bool:
    """Whether the servers signed this body for this challenge."""
    try:
        key = Ed25519PublicKey.from_public_bytes(b64decode(public_key))
        key.verify(b64decode(signature, validate=True), subject.encode() + b"\n" + body)
    except (InvalidSignature, ValueError):
        return False
    return True
