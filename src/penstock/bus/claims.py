"""NATS JWTs, version 2: who vouches for whom (operator -> account -> user).

The server knows the operator's JWT and the accounts'; a user brings their own, so none is registered.
Fields: github.com/nats-io/jwt/v2.
"""

import base64
import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from penstock.bus.nkeys import NKey

_HEADER = {"typ": "JWT", "alg": "ed25519-nkey"}
_UNLIMITED = -1
_NANOSECONDS = 1_000_000_000


class Permissions(msgspec.Struct, frozen=True):
    """What a user may do; an empty tuple allows every subject.

    only_answers: publishes nothing but answers to what it is asked: so many to one request, within so many seconds.
    """

    publish: tuple[str, ...] = ()
    subscribe: tuple[str, ...] = ()
    only_answers: bool = False
    most_answers: int = 100
    answer_seconds: int = 60


def operator_jwt(operator: NKey, system_account: str) -> str:
    return _sign(
        operator,
        operator.public,
        "penstock",
        {"type": "operator", "system_account": system_account},
    )


class Exchange(msgspec.Struct, frozen=True):
    """Subjects that cross between two accounts.

    A service carries requests, and its answers back; the server hides the requester's reply subject
    from the exporting account. A stream carries messages one way.
    """

    subject: str
    kind: Literal["service", "stream"]


def account_jwt(
    operator: NKey,
    account: str,
    name: str,
    *,
    streams: bool = False,
    exports: Sequence[Exchange] = (),
    imports: Sequence[Exchange] = (),
    exporter: str = "",
) -> str:
    """An account without limits of its own.

    streams: lets it use JetStream. exporter: the public key of the account that `imports` come from.
    """
    limits = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), _UNLIMITED)
    storage = ("mem_storage", "disk_storage", "streams", "consumer") if streams else ()
    body = {
        "type": "account",
        "limits": {**limits, **dict.fromkeys(storage, _UNLIMITED), "wildcards": True},
        "exports": [{"name": e.subject, "subject": e.subject, "type": e.kind} for e in exports],
        "imports": [{"name": e.subject, "subject": e.subject, "type": e.kind, "account": exporter} for e in imports],
    }
    return _sign(operator, account, name, body)


def user_jwt(account: NKey, user: str, name: str, permissions: Permissions, expires: datetime | None) -> str:
    """expires: from then on the server ends the user's connections."""
    body: dict[str, Any] = {
        "type": "user",
        "pub": {"deny": [">"]} if permissions.only_answers else _allow(permissions.publish),
        "sub": _allow(permissions.subscribe),
        "subs": _UNLIMITED,
        "data": _UNLIMITED,
        "payload": _UNLIMITED,
    }
    if permissions.only_answers:
        body["resp"] = {"max": permissions.most_answers, "ttl": permissions.answer_seconds * _NANOSECONDS}
    return _sign(account, user, name, body, expires)


def _allow(subjects: Sequence[str]) -> dict[str, Any]:
    return {"allow": list(subjects)} if subjects else {}


def _sign(issuer: NKey, subject: str, name: str, body: dict[str, Any], expires: datetime | None = None) -> str:
    claims: dict[str, Any] = {
        "iat": int(datetime.now(UTC).timestamp()),
        "iss": issuer.public,
        "sub": subject,
        "name": name,
        "nats": {**body, "version": 2},
    }
    if expires is not None:
        claims["exp"] = int(expires.timestamp())
    digest = hashlib.sha256(msgspec.json.encode(claims)).digest()
    claims["jti"] = base64.b32encode(digest).rstrip(b"=").decode()
    signed = f"{_url64(msgspec.json.encode(_HEADER))}.{_url64(msgspec.json.encode(claims))}"
    return f"{signed}.{_url64(issuer.sign(signed.encode()))}"


def _url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
