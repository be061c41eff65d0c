"""Work beside the requests: hearing what other replicas tell about users and failed logins."""

import asyncio

from penstock.areas.identity.accounts import Accounts
from penstock.areas.identity.model import USERS
from penstock.areas.identity.service import Users
from penstock.areas.identity.throttle import LOGIN_FAILURES, LoginThrottle
from penstock.resource.area import Worker
from penstock.resource.changes import Change, Changes


class IdentityNotices(Worker):
    """Forgets users that change and counts failed logins that happen anywhere; seals hashes anew after a rotation."""

    def __init__(self, changes: Changes, accounts: Accounts, throttle: LoginThrottle, users: Users) -> None:
        self._changes = changes
        self._accounts = accounts
        self._throttle = throttle
        self._users = users

    async def run(self) -> None:
        users = await self._changes.follow(USERS.name, self._forget)
        try:
            failures = await self._changes.follow(LOGIN_FAILURES, self._throttle.heard)
            try:
                await self._users.renew_seals()
                await asyncio.get_running_loop().create_future()
            finally:
                await failures.stop()
        finally:
            await users.stop()

    async def _forget(self, change: Change) -> None:
        self._accounts.forget()
