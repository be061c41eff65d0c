"""How callers prove who they are; the areas that issue credentials also check them."""

from typing import Protocol

from penstock.kernel.actor import Actor


class CredentialCheck(Protocol):
    """Checks one family of credentials."""

    async def actor(self, credential: str) -> Actor | None:
        """Who presents this `Authorization: Bearer` or `X-API-Key` value; None when it is not of this family.

        Raises Unauthenticated when it is, but does not hold.
        """
        ...
