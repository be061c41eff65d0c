"""Signatures of webhooks as standardwebhooks.com specifies them: made and checked, several secrets at once."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from penstock.kernel.errors import Unauthenticated

ID = "webhook-id"
TIMESTAMP = "webhook-timestamp"
SIGNATURE = "webhook-signature"
TOLERANCE = timedelta(minutes=5)

_PREFIX = "whsec_"
_VERSION = "v1"
_SHORTEST, _LONGEST = 24, 64  # bytes, by the specification


def signing_key(secret: str) -> bytes:
    """The key in a secret like `whsec_<base64>`. Raises ValueError with what is allowed."""
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError:
        key = b""
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise ValueError(f"must be base64 of {_SHORTEST} to {_LONGEST} bytes, with or without '{_PREFIX}' before it")
    return key


def signed_headers(message_id: str, at: datetime, body: bytes, keys: Sequence[bytes]) -> dict[str, str]:
    """The headers; one signature per key, so that receivers may change to the new one at any time.

    Without keys there is no signature.
    """
    timestamp = str(int(at.timestamp()))
    if not keys:
        return {ID: message_id, TIMESTAMP: timestamp}
    signatures = " ".join(_signature(message_id, timestamp, body, key) for key in keys)
    return {ID: message_id, TIMESTAMP: timestamp, SIGNATURE: signatures}


def verify(headers: Mapping[str, str], body: bytes, keys: Sequence[bytes], now: datetime) -> None:
    """Checks that one of the keys signed the message within five minutes of now. headers: names in lower case.

    Raises Unauthenticated.
    """
    message_id, timestamp, given = (headers.get(name, "") for name in (ID, TIMESTAMP, SIGNATURE))
    if not message_id or not given or not (timestamp.isascii() and timestamp.isdigit()):
        raise Unauthenticated(f"the headers {ID}, {TIMESTAMP} and {SIGNATURE} are needed")
    if abs(now.timestamp() - int(timestamp)) > TOLERANCE.total_seconds():
        raise Unauthenticated("the message was signed too long ago, or in the future")
    wanted = [_signature(message_id, timestamp, body, key).encode() for key in keys]
    found = [signature.encode() for signature in given.split(" ")]
    if not any(hmac.compare_digest(one, other) for one in wanted for other in found):
        raise Unauthenticated("no signature of the message holds")


def _signature(message_id: str, timestamp: str, body: bytes, key: bytes) -> str:
    signed = b".".join([message_id.encode(), timestamp.encode(), body])
    return f"{_VERSION},{base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()}"
