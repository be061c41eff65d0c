"""API keys: long-lived credentials of users, for programs."""

from collections.abc import Sequence

import msgspec

from penstock.areas.identity.credentials import API_KEY_PREFIX
from penstock.areas.identity.model import ApiKey, User
from penstock.areas.identity.policy import IdentityPolicy
from penstock.areas.identity.service import Users
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, NameTaken, NotFound
from penstock.kernel.names import check_name, name_key
from penstock.resource.token import hash_token, new_secret, new_token

DEFAULT_NAME = "default"
_LONGEST_DESCRIPTION = 1024


class ApiKeys:
    """The keys are stored with their user, so they come and go with the user in one commit."""

    def __init__(self, users: Users, clock: Clock, policy: IdentityPolicy) -> None:
        self._users = users
        self._clock = clock
        self._most = policy.api_keys_per_user

    async def names(self, username: str) -> Sequence[str]:
        """The names of the user's keys, oldest first. Raises NotFound."""
        return [key.name for key in (await self._users.named(username)).api_keys]

    async def create(self, username: str, name: str | None, description: str | None, actor: Actor) -> str:
        """The new key, which cannot be read again. Raises NotFound, NameTaken, Invalid."""
        name = check_name("name", name or DEFAULT_NAME)
        if len(description or "") > _LONGEST_DESCRIPTION:
            raise Invalid.one("description", f"must have at most {_LONGEST_DESCRIPTION} characters")
        secret = new_secret()
        key = ApiKey(name=name, description=description, hash=hash_token(secret), created_date=self._clock.now())
        user = await self._users.change(username, lambda user: self._with(user, key), actor)
        return new_token(API_KEY_PREFIX, user.key.bytes, secret)

    async def delete(self, username: str, name: str, actor: Actor) -> None:
        """Raises NotFound for an unknown user or key."""
        await self._users.change(username, lambda user: _without(user, name), actor)

    def _with(self, user: User, key: ApiKey) -> User:
        if _find(user, key.name):
            raise NameTaken(f"user '{user.username}' has another API key '{key.name}'")
        if len(user.api_keys) >= self._most:
            raise Invalid.one("", f"a user may have at most {self._most} API keys")
        return msgspec.structs.replace(user, api_keys=[*user.api_keys, key])


def _without(user: User, name: str) -> User:
    found = _find(user, name)
    if found is None:
        raise NotFound(f"user '{user.username}' has no API key '{name}'")
    return msgspec.structs.replace(user, api_keys=[key for key in user.api_keys if key is not found])


def _find(user: User, name: str) -> ApiKey | None:
    return next((key for key in user.api_keys if name_key(key.name) == name_key(name)), None)
