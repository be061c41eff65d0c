"""Guessing passwords over HTTP, from different addresses, on a clock that the tests drive."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from penstock.areas.identity.throttle import LoginThrottle, Origin
from penstock.kernel.clock import ManualClock
from tests.application import ADMIN_PASSWORD, Application, running_application

FREE, FREE_PER_ADDRESS = 10, 50
_addresses = count(2)


@pytest.fixture(scope="module")
def clock() -> ManualClock:
    return ManualClock(datetime.now(UTC))


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory, clock: ManualClock) -> AsyncIterator[Application]:
    """An application of this module's own, whose time stands still unless a test moves it."""
    async with running_application(tmp_path_factory.mktemp("throttle"), clock) as running:
        yield running


@pytest.fixture
async def guesser(own: Application) -> AsyncIterator[httpx.AsyncClient]:
    async with client_elsewhere(own) as client:
        yield client


@asynccontextmanager
async def client_elsewhere(application: Application) -> AsyncIterator[httpx.AsyncClient]:
    """A client whose requests come from an address that no other client has."""
    number = next(_addresses)
    transport = httpx.AsyncHTTPTransport(local_address=f"127.1.{number // 250}.{number % 250 + 1}")
    async with httpx.AsyncClient(base_url=application.address, transport=transport, timeout=30) as client:
        yield client


@pytest.fixture
def name() -> str:
    return f"{uuid4().hex[:12]}@example.com"


async def guess(client: httpx.AsyncClient, name: str, password: str = "wrong password") -> httpx.Response:
    return await client.post("/identity/login/username", json={"UserName": name, "Password": password})


async def fail(client: httpx.AsyncClient, name: str, times: int = FREE) -> None:
    for _ in range(times):
        assert (await guess(client, name)).status_code == 401


async def test_after_ten_failures_even_the_right_password_has_to_wait(
    own: Application, guesser: httpx.AsyncClient
) -> None:
    await fail(guesser, "admin")
    answer = await guess(guesser, "admin", ADMIN_PASSWORD)
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["code"] == "too-many-requests"


async def test_each_further_failure_doubles_the_wait_up_to_a_quarter_of_an_hour(
    own: Application, guesser: httpx.AsyncClient, name: str, clock: ManualClock
) -> None:
    await fail(guesser, name)
    waits = []
    for _ in range(12):
        waits.append(int((await guess(guesser, name)).headers["retry-after"]))
        await clock.advance(timedelta(seconds=waits[-1]))
        await fail(guesser, name, 1)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


async def test_waiting_attempts_do_not_make_the_wait_longer(
    own: Application, guesser: httpx.AsyncClient, name: str, clock: ManualClock
) -> None:
    await fail(guesser, name)
    for _ in range(20):
        assert (await guess(guesser, name)).headers["retry-after"] == "1"
    await clock.advance(timedelta(seconds=1))
    assert (await guess(guesser, name)).status_code == 401


async def test_after_the_wait_the_right_password_logs_in_and_failures_are_forgotten(
    own: Application, guesser: httpx.AsyncClient, clock: ManualClock
) -> None:
    await fail(guesser, "admin")
    await clock.advance(timedelta(seconds=1))
    assert (await guess(guesser, "admin", ADMIN_PASSWORD)).status_code == 200
    await fail(guesser, "admin")
    assert (await guess(guesser, "admin")).status_code == 429


async def test_failures_are_forgotten_after_a_quiet_quarter_of_an_hour(
    own: Application, guesser: httpx.AsyncClient, name: str, clock: ManualClock
) -> None:
    await fail(guesser, name, FREE - 1)
    await clock.advance(timedelta(minutes=15, seconds=1))
    await fail(guesser, name, FREE)
    assert (await guess(guesser, name)).status_code == 429


async def test_the_name_in_another_case_is_the_same_name(
    own: Application, guesser: httpx.AsyncClient, name: str
) -> None:
    await fail(guesser, name, FREE // 2)
    await fail(guesser, name.upper(), FREE // 2)
    assert (await guess(guesser, name)).status_code == 429


async def test_other_users_and_other_addresses_do_not_have_to_wait(
    own: Application, guesser: httpx.AsyncClient, name: str
) -> None:
    await fail(guesser, "admin")
    assert (await guess(guesser, "admin")).status_code == 429
    assert (await guess(guesser, name)).status_code == 401
    async with client_elsewhere(own) as elsewhere:
        assert (await guess(elsewhere, "admin", ADMIN_PASSWORD)).status_code == 200


async def test_an_address_that_tries_many_names_has_to_wait_for_every_name(
    own: Application, guesser: httpx.AsyncClient, name: str
) -> None:
    for number in range(FREE_PER_ADDRESS):
        assert (await guess(guesser, f"{number}.{name}")).status_code == 401
    assert (await guess(guesser, "admin", ADMIN_PASSWORD)).status_code == 429


async def test_a_login_that_succeeds_does_not_clear_the_address(
    own: Application, guesser: httpx.AsyncClient, name: str
) -> None:
    for number in range(FREE_PER_ADDRESS - 1):
        assert (await guess(guesser, f"{number}.{name}")).status_code == 401
    assert (await guess(guesser, "admin", ADMIN_PASSWORD)).status_code == 200
    assert (await guess(guesser, name)).status_code == 401
    assert (await guess(guesser, name)).status_code == 429


async def test_guesses_at_the_same_time_count_before_they_are_answered(
    own: Application, guesser: httpx.AsyncClient, name: str
) -> None:
    answers = await asyncio.gather(*(guess(guesser, name) for _ in range(30)))
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(401) == FREE
    assert statuses.count(429) == 20


async def test_requests_that_are_not_valid_are_no_failures(
    own: Application, guesser: httpx.AsyncClient, name: str
) -> None:
    for _ in range(FREE_PER_ADDRESS + 1):
        assert (await guess(guesser, name, "")).status_code == 400
    assert (await guess(guesser, name)).status_code == 401


async def test_replicas_count_together(tmp_path: Path, name: str, clock: ManualClock) -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(running_application(tmp_path / "1", clock))
        assert first.platform.nats is not None
        second = await stack.enter_async_context(
            running_application(
                tmp_path / "2",
                clock,
                PENSTOCK_DATABASE_URL=f"sqlite:///{tmp_path / '1' / 'penstock.db'}",
                PENSTOCK_NATS_URL=first.platform.nats.url,
                PENSTOCK_NATS_KEYS=str(tmp_path / "1" / "bus-keys.json"),
                PENSTOCK_SECRET_KEY=(tmp_path / "1" / "secret-key").read_text(),
            )
        )
        await fail(first.anonymous, name, FREE // 2)
        await fail(second.anonymous, name, FREE // 2)
        origin = Origin.of(name, "127.0.0.1")
        async with asyncio.timeout(20):
            for replica in (first, second):
                throttle = replica.platform.container.get(LoginThrottle)
                while throttle.wait(origin) <= 0:
                    await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("", "unix socket", False),
    ],
)
def test_addresses_that_one_party_usually_has_count_as_one(one: str, other: str, same: bool) -> None:
    assert (Origin.of("admin", one) == Origin.of("admin", other)) is same
