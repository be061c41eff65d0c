"""The credentials of users: access tokens and API keys."""

from uuid import UUID

from penstock.areas.identity.access_tokens import AccessTokens
from penstock.areas.identity.accounts import Accounts
from penstock.kernel.actor import Actor
from penstock.kernel.errors import Unauthenticated
from penstock.resource.token import token_matches, token_parts

API_KEY_PREFIX = "pk_"
SUBJECT = 16  # bytes of the user's id in front of a key's secret


class AccessTokenCheck:
    """Access tokens: the signature, the time, and that the user still exists."""

    def __init__(self, tokens: AccessTokens, accounts: Accounts) -> None:
        self._tokens = tokens
        self._accounts = accounts

    async def actor(self, credential: str) -> Actor | None:
        claims = self._tokens.verify(credential)
        if claims is None:
            return None
        account = await self._accounts.account(claims.sub)
        if account is None or account.generation != claims.gen:
            raise Unauthenticated("the access token was revoked")
        return account.actor


class ApiKeyCheck:
    """API keys: `pk_` and the base64url form of the user's id and a secret."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts

    async def actor(self, credential: str) -> Actor | None:
        if not credential.startswith(API_KEY_PREFIX):
            return None
        parts = token_parts(API_KEY_PREFIX, credential, SUBJECT)
        account = await self._accounts.account(UUID(bytes=parts[0])) if parts else None
        if parts is None or account is None or not any(token_matches(parts[1], hash) for hash in account.key_hashes):
            raise Unauthenticated("the API key is not valid")
        return account.actor
