"""Passwords: hashed with argon2id beside the event loop, a bounded number at a time."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from penstock.areas.identity.policy import IdentityPolicy
from penstock.kernel.errors import TooManyRequests
from penstock.resource.token import new_password

T = TypeVar("T")

LONGEST = 1024  # characters; hashing takes longer for longer ones


class Passwords:
    """Hashes and verifies. Every method raises TooManyRequests when too many wait already."""

    def __init__(self, policy: IdentityPolicy) -> None:
        self._hasher = PasswordHasher(
            time_cost=policy.hash_passes, memory_cost=policy.hash_memory, parallelism=1, type=Type.ID
        )
        self._nobody = self._hasher.hash(new_password())
        self._places = asyncio.Semaphore(policy.hash_at_once)
        self._most = policy.hash_at_once + policy.waiting_logins
        self._present = 0

    async def hash(self, password: str) -> str:
        return await self._run(lambda: self._hasher.hash(password))

    async def verify(self, hashed: str | None, password: str) -> bool:
        """Whether the password has this hash. None takes as long and is False: nobody can tell which users exist."""
        return await self._run(lambda: self._verify(hashed or self._nobody, password)) and hashed is not None

    def outdated(self, hashed: str) -> bool:
        """Whether the hash was made with other parameters than are set now."""
        return self._hasher.check_needs_rehash(hashed)

    def _verify(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _run(self, work: Callable[[], T]) -> T:
        if self._present >= self._most:
            raise TooManyRequests("too many people log in at this moment", retry_after=1)
        self._present += 1
        try:
            async with self._places:
                return await asyncio.to_thread(work)
        finally:
            self._present -= 1
