"""Identity on two replicas that share a PostgreSQL database and a bus."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from uuid import uuid4

import pytest

from penstock.areas.identity.api_keys import ApiKeys
from penstock.areas.identity.model import LoginModel, LoginResult, UserCreateDto
from penstock.areas.identity.service import Users
from penstock.areas.identity.sessions import Sessions
from penstock.kernel.actor import SYSTEM
from penstock.kernel.errors import Invalid, NameTaken
from tests.application import Application, running_application
from tests.postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]

Replicas = list[Application]


@pytest.fixture(scope="module")
async def replicas(
    tmp_path_factory: pytest.TempPathFactory,
    postgres_server: PostgresServer,
) -> AsyncIterator[Replicas]:
    folder = tmp_path_factory.mktemp("replicas")
    shared = {"PENSTOCK_DATABASE_URL": postgres_server.new_database()}
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(running_application(folder / "1", **shared))
        assert first.platform.nats is not None
        shared["PENSTOCK_NATS_URL"] = first.platform.nats.url
        shared["PENSTOCK_NATS_KEYS"] = str(folder / "1" / "bus-keys.json")
        shared["PENSTOCK_SECRET_KEY"] = (folder / "1" / "secret-key").read_text()
        second = await stack.enter_async_context(running_application(folder / "2", **shared))
        yield [first, second]


@pytest.fixture
def email() -> str:
    return f"{uuid4().hex[:12]}@example.com"


def users_of(replica: Application) -> Users:
    return replica.platform.container.get(Users)


async def create(replica: Application, email: str, roles: str = "Reader") -> str:
    """Creates a user; the generated password."""
    created = await users_of(replica).create(UserCreateDto(email=email, roles=roles), SYSTEM)
    return created.password or ""


async def log_in(replica: Application, email: str, password: str) -> LoginResult:
    sessions = replica.platform.container.get(Sessions)
    return await sessions.login(LoginModel(user_name=email, password=password), "127.0.0.1")


async def status_with(replica: Application, name: str, value: str) -> int:
    """The status of a read that needs the role Reader, with this header."""
    return (await replica.anonymous.get("/variables", headers={name: value})).status_code


async def test_of_all_admins_deleted_on_different_replicas_one_stays(replicas: Replicas, email: str) -> None:
    for attempt in range(8):
        await create(replicas[0], f"{attempt}.{email}", "Admin")
        admins = [user.username or "" for user in await users_of(replicas[0]).list() if "Admin" in (user.roles or [])]
        assert len(admins) > 1
        deletions = [users_of(replicas[n % 2]).delete(name, SYSTEM) for n, name in enumerate(admins)]
        outcomes = await asyncio.gather(*deletions, return_exceptions=True)
        refusals = [outcome for outcome in outcomes if outcome is not None]
        assert [type(refusal) for refusal in refusals] == [Invalid]


async def test_refreshes_on_different_replicas_agree_on_the_next_token(replicas: Replicas, email: str) -> None:
    token = (await log_in(replicas[0], email, await create(replicas[0], email))).refresh_token
    for _ in range(5):
        sessions = [replica.platform.container.get(Sessions) for replica in replicas * 4]
        results = await asyncio.gather(*(each.refresh(token) for each in sessions))
        following = {result.refresh_token for result in results}
        assert len(following) == 1
        token = following.pop()


async def test_keys_made_on_different_replicas_are_all_kept(replicas: Replicas, email: str) -> None:
    await create(replicas[0], email)
    keys = [replica.platform.container.get(ApiKeys) for replica in replicas]
    made = await asyncio.gather(*(keys[n % 2].create(email, f"key-{n}", None, SYSTEM) for n in range(10)))
    for key in made:
        for replica in replicas:
            assert await status_with(replica, "X-API-Key", key) == 200


async def test_of_users_made_under_one_name_on_different_replicas_one_is_made(replicas: Replicas, email: str) -> None:
    made = await asyncio.gather(*(create(replica, email) for replica in replicas * 2), return_exceptions=True)
    assert [type(each) for each in made if not isinstance(each, str)] == [NameTaken] * 3


async def test_what_was_deleted_on_one_replica_ends_on_the_other(replicas: Replicas, email: str) -> None:
    here, there = replicas
    tokens = await log_in(here, email, await create(here, email))
    key = await here.platform.container.get(ApiKeys).create(email, "ci", None, SYSTEM)
    credentials = [("Authorization", f"Bearer {tokens.token}"), ("X-API-Key", key)]
    for name, value in credentials:
        assert await status_with(there, name, value) == 200
    await users_of(here).delete(email, SYSTEM)
    async with asyncio.timeout(20):
        for name, value in credentials:
            while await status_with(there, name, value) != 401:
                await asyncio.sleep(0.02)
