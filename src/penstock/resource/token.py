"""Random tokens and passwords: made, kept as hashes, compared in constant time."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode

from penstock.kernel.entropy import random_bytes

_RANDOM = 32  # bytes


def new_secret() -> bytes:
    """256 random bits."""
    return random_bytes(_RANDOM)


def new_token(prefix: str, subject: bytes = b"", secret: bytes | None = None) -> str:
    """A token of 256 random bits behind `prefix`.

    subject: bytes that say what the token is for, so that it can be looked up. secret: in place of new random bits.
    """
    return prefix + urlsafe_b64encode(subject + (secret or new_secret())).rstrip(b"=").decode()


def token_parts(prefix: str, token: str, subject: int) -> tuple[bytes, bytes] | None:
    """The subject, of so many bytes, and the secret of a token; None when it is not of this form."""
    text = token.removeprefix(prefix)
    try:
        content = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    fits = len(content) == subject + _RANDOM and new_token(prefix, content[:subject], content[subject:]) == token
    return (content[:subject], content[subject:]) if fits else None


def new_password() -> str:
    """A password of 144 random bits."""
    return secrets.token_urlsafe(18)


def hash_token(token: str | bytes) -> str:
    """How a random token is kept: SHA-256 in hex. Not for passwords, which can be guessed."""
    return hashlib.sha256(token.encode() if isinstance(token, str) else token).hexdigest()


def token_matches(token: str | bytes, hashed: str) -> bool:
    """Whether `hashed` is the hash of the token."""
    return hmac.compare_digest(hash_token(token), hashed)
