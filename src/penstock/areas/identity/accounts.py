"""What credential checks know of users, remembered for a moment."""

import time
from dataclasses import dataclass
from uuid import UUID

from penstock.areas.identity.model import USERS, User
from penstock.kernel.actor import Actor
from penstock.store.body import decode
from penstock.store.store import Store

_SECONDS = 1.0
_MOST = 4096


@dataclass(frozen=True, slots=True)
class Account:
    """A user as credential checks see it. key_hashes: of the API keys."""

    actor: Actor
    generation: int
    key_hashes: tuple[str, ...]

    @classmethod
    def of(cls, user: User) -> "Account":
        actor = Actor(name=user.username, roles=frozenset(user.roles))
        return cls(actor, user.generation, tuple(key.hash for key in user.api_keys))


class Accounts:
    """Finds accounts by user id with at most one read of the database.

    An account is remembered for a second and forgotten at once when a notice says that users changed. So a deletion
    counts within a second even where the notice is lost.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._remembered: dict[UUID, tuple[float, Account | None]] = {}

    async def account(self, id: UUID) -> Account | None:
        """None when there is no such user (any more)."""
        until, account = self._remembered.get(id, (0.0, None))
        now = time.monotonic()
        if now < until:
            return account
        document = await self._store.get(USERS, id)
        account = Account.of(decode(document.body, USERS.type)) if document else None
        if len(self._remembered) >= _MOST:
            self._remembered.clear()
        self._remembered[id] = (now + _SECONDS, account)
        return account

    def forget(self) -> None:
        """Forgets all that is remembered."""
        self._remembered.clear()
