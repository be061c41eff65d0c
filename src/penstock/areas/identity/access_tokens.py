"""Access tokens: JWTs (RFC 9068 shape, HS256) that any replica verifies without a look-up."""

from datetime import datetime
from typing import Any
from uuid import UUID

import jwt
import msgspec

from penstock.areas.identity.model import User
from penstock.areas.identity.policy import IdentityPolicy
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Unauthenticated
from penstock.kernel.ids import new_id
from penstock.resource.secrets import Purpose, Secrets

ISSUER = "penstock"
AUDIENCE = "penstock"
TYPE = "at+jwt"
_ALGORITHM = "HS256"
_REMEMBERED = 4096
# Time is ours to check, with the clock given.
_OPTIONS: Any = {
    "require": ["iss", "aud", "sub", "exp", "iat", "jti", "gen"],
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
}


class Claims(msgspec.Struct, frozen=True):
    """What a token says. exp: seconds since 1970; gen: the user's generation."""

    sub: UUID
    exp: int
    gen: int


class AccessTokens:
    """Issues and verifies. Tokens made before a rotation of the master key hold while that key is still known."""

    def __init__(self, secrets: Secrets, policy: IdentityPolicy, clock: Clock) -> None:
        self._key_id = secrets.key_id
        self._keys = secrets.subkeys(Purpose.TOKENS)
        self._lifetime = policy.access_token
        self._clock = clock
        self._verified: dict[str, Claims] = {}

    def issue(self, user: User) -> str:
        """A token for the user. name and roles in it only inform; what counts is the stored user."""
        now = self._clock.now()
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": str(user.key),
            "iat": _seconds(now),
            "exp": _seconds(now + self._lifetime),
            "jti": new_id().hex,
            "gen": user.generation,
            "name": user.username,
            "roles": [str(role) for role in user.roles],
        }
        headers = {"typ": TYPE, "kid": self._key_id}
        return jwt.encode(claims, self._keys[self._key_id], algorithm=_ALGORITHM, headers=headers)

    def verify(self, token: str) -> Claims | None:
        """What the token says; None when it is no such token. Raises Unauthenticated for one that does not hold."""
        claims = self._verified.get(token) or self._check(token)
        if claims is not None and claims.exp <= self._clock.now().timestamp():
            self._verified.pop(token, None)
            raise Unauthenticated("the access token has expired")
        return claims

    def _check(self, token: str) -> Claims | None:
        header = _header(token)
        if header.get("typ") != TYPE:
            return None
        key = self._keys.get(str(header.get("kid")))
        if key is None:
            raise Unauthenticated("the access token was made with a key that is no longer in use")
        try:
            content = jwt.decode(
                token, key, algorithms=[_ALGORITHM], audience=AUDIENCE, issuer=ISSUER, options=_OPTIONS
            )
            claims = msgspec.convert(content, Claims)
        except (jwt.PyJWTError, msgspec.ValidationError):
            raise Unauthenticated("the access token is not valid") from None
        self._remember(token, claims)
        return claims

    def _remember(self, token: str, claims: Claims) -> None:
        if len(self._verified) >= _REMEMBERED:
            self._verified.clear()
        self._verified[token] = claims


def _header(token: str) -> dict[str, Any]:
    """What the token says of itself before anything is verified; empty when it is no JWT."""
    if token.count(".") != 2:
        return {}
    try:
        return jwt.get_unverified_header(token)
    except jwt.PyJWTError:
        return {}


def _seconds(at: datetime) -> int:
    return int(at.timestamp())
