"""Finds out who calls, by the checks that the areas provide."""

from collections.abc import Mapping, Sequence

from penstock.kernel.actor import Actor
from penstock.kernel.errors import Unauthenticated
from penstock.resource.credential import CredentialCheck


class Authentication:
    """Takes `Authorization: Bearer <credential>` or `X-API-Key: <credential>`."""

    def __init__(self, checks: Sequence[CredentialCheck]) -> None:
        self._checks = checks

    async def actor(self, headers: Mapping[str, str]) -> Actor | None:
        """Who calls; None without a credential. Raises Unauthenticated when one is given and nobody accepts it."""
        credential = _credential(headers)
        if credential is None:
            return None
        for check in self._checks:
            actor = await check.actor(credential)
            if actor is not None:
                return actor
        raise Unauthenticated("the credential is not known")


def _credential(headers: Mapping[str, str]) -> str | None:
    key = headers.get("x-api-key")
    if key:
        return key.strip()
    authorization = headers.get("authorization")
    if not authorization:
        return None
    scheme, _, credential = authorization.partition(" ")
    if scheme.lower() != "bearer" or not credential.strip():
        raise Unauthenticated("the Authorization header must be 'Bearer <token>'")
    return credential.strip()
