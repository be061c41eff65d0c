"""Logins, access tokens and refresh tokens over HTTP, on a clock that the tests drive."""

import asyncio
import json
import os
from base64 import b64encode
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest

from penstock.areas.identity.access_tokens import AccessTokens
from penstock.areas.identity.model import LoginModel
from penstock.areas.identity.passwords import Passwords
from penstock.areas.identity.policy import IdentityPolicy
from penstock.areas.identity.service import Users
from penstock.areas.identity.sessions import Sessions
from penstock.areas.identity.throttle import LoginThrottle
from penstock.kernel.clock import Clock, ManualClock
from penstock.kernel.errors import Unauthenticated
from penstock.resource.secrets import Purpose, Secrets
from penstock.store.store import Store
from tests.application import ADMIN_PASSWORD, Application, running_application
from tests.areas.accounts import log_in


@pytest.fixture(scope="module")
def clock() -> ManualClock:
    return ManualClock(datetime.now(UTC))


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory, clock: ManualClock) -> AsyncIterator[Application]:
    """An application of this module's own, whose time stands still unless a test moves it."""
    async with running_application(tmp_path_factory.mktemp("sessions"), clock) as running:
        yield running


@pytest.fixture
async def email(own: Application) -> str:
    """A new user, whose password is PASSWORDS[email]."""
    await fresh_admin(own)
    name = f"{uuid4().hex[:12]}@example.com"
    answer = await own.admin.post("/identity/user", json={"Email": name, "Roles": "Reader"})
    PASSWORDS[name] = answer.json()["Password"]
    return name


PASSWORDS: dict[str, str] = {}


async def fresh_admin(application: Application) -> None:
    """Logs the Admin in again, since other tests let access tokens expire."""
    await application.admin.aclose()
    application.admin = await application.client_for("admin", ADMIN_PASSWORD)


async def tokens_of(application: Application, email: str) -> dict[str, str]:
    answer = await log_in(application, email, PASSWORDS[email])
    assert answer.status_code == 200
    tokens: dict[str, str] = answer.json()
    assert tokens.keys() == {"Token", "RefreshToken"}
    return tokens


async def refresh(application: Application, token: Any) -> httpx.Response:
    return await application.anonymous.post("/identity/login/refresh", json={"RefreshToken": token})


async def call_with(application: Application, token: str) -> int:
    """The status of a read that needs the role Reader."""
    headers = {"Authorization": f"Bearer {token}"}
    return (await application.anonymous.get("/variables", headers=headers)).status_code


# Logins


async def test_wrong_passwords_and_unknown_users_get_the_same_answer(own: Application, email: str) -> None:
    wrong = await log_in(own, email, "wrong")
    unknown = await log_in(own, "nobody@example.com", PASSWORDS[email])
    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert {**wrong.json(), "instance": ""} == {**unknown.json(), "instance": ""}
    assert wrong.headers["www-authenticate"] == unknown.headers["www-authenticate"]


async def test_user_names_are_compared_without_case_and_passwords_with(own: Application, email: str) -> None:
    assert (await log_in(own, email.upper(), PASSWORDS[email])).status_code == 200
    assert (await log_in(own, email, PASSWORDS[email].swapcase())).status_code == 401


@pytest.mark.parametrize("model", [{}, {"UserName": None, "Password": ""}, {"UserName": "", "Password": None}])
async def test_what_is_missing_is_named_all_at_once(own: Application, model: dict[str, Any]) -> None:
    answer = await own.anonymous.post("/identity/login/username", json=model)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["UserName", "Password"]


async def test_a_password_that_would_keep_the_server_busy_is_refused(own: Application, email: str) -> None:
    long = await log_in(own, email, "x" * 1025)
    assert (long.status_code, long.json()["errors"][0]["field"]) == (400, "Password")
    assert (await log_in(own, email, "x" * 20_000)).status_code == 413


async def test_any_text_can_be_tried_as_a_user_name(own: Application, email: str) -> None:
    for name in ("a\x00b", "\u200b", "x" * 5000, "' OR 1=1 --", "😀"):
        assert (await log_in(own, name, "x")).status_code == 401, name


async def test_logins_are_in_the_audit_log(own: Application, email: str) -> None:
    tokens = await tokens_of(own, email)
    user = await own.platform.container.get(Users).named(email)
    span = {"entityId": str(user.key), "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    events = (await own.admin.get("/events/store", params=span)).json()
    assert [event["EventType"] for event in events] == ["users.logged-in", "users.created"]
    assert events[0]["Source"] == email
    assert not any(token in json.dumps(events) for token in tokens.values())


# Access tokens


async def test_an_access_token_is_a_jwt_for_fifteen_minutes(own: Application, email: str) -> None:
    token = (await tokens_of(own, email))["Token"]
    assert jwt.get_unverified_header(token)["typ"] == "at+jwt"
    claims = jwt.decode(token, options={"verify_signature": False})
    assert claims["exp"] - claims["iat"] == 15 * 60
    assert (claims["iss"], claims["aud"]) == ("penstock", "penstock")
    assert (claims["name"], claims["roles"]) == (email, ["Reader"])
    other = jwt.decode((await tokens_of(own, email))["Token"], options={"verify_signature": False})
    assert claims["jti"] != other["jti"]


async def test_an_access_token_ends_after_its_time(own: Application, email: str, clock: ManualClock) -> None:
    token = (await tokens_of(own, email))["Token"]
    await clock.advance(timedelta(minutes=14, seconds=59))
    assert await call_with(own, token) == 200
    await clock.advance(timedelta(seconds=1))
    assert await call_with(own, token) == 401


async def test_a_forged_access_token_is_refused(own: Application, email: str) -> None:
    token = (await tokens_of(own, email))["Token"]
    header, payload, signature = token.split(".")
    secrets = own.platform.container.get(Secrets)
    key = secrets.subkey(Purpose.TOKENS)
    claims = jwt.decode(token, options={"verify_signature": False})
    good = {"typ": "at+jwt", "kid": secrets.key_id}

    def signed(key: bytes, claims: dict[str, Any], headers: dict[str, Any], algorithm: str = "HS256") -> str:
        return jwt.encode(claims, key, algorithm=algorithm, headers=headers)

    assert await call_with(own, signed(key, claims, good)) == 200
    forged = [
        f"{header}.{payload}.{signature[::-1]}",
        f"{header}.{payload}.",
        f"{header}..{signature}",
        signed(os.urandom(32), claims, good),
        signed(secrets.subkey(Purpose.REFRESH), claims, good),
        signed(b"x" * 64, claims, good, "HS512"),
        signed(key, claims, {"typ": "JWT", "kid": secrets.key_id}),
        signed(key, claims, {"typ": "at+jwt"}),
        signed(key, claims, {"typ": "at+jwt", "kid": "0000"}),
        signed(key, {**claims, "aud": "another"}, good),
        signed(key, {**claims, "iss": "another"}, good),
        signed(key, {**claims, "sub": str(uuid4())}, good),
        signed(key, {**claims, "sub": "admin"}, good),
        signed(key, {**claims, "gen": claims["gen"] + 1}, good),
        signed(key, {name: value for name, value in claims.items() if name != "exp"}, good),
        b64encode(json.dumps({**good, "alg": "none"}).encode()).decode().rstrip("=") + f".{payload}.",
    ]
    for each in forged:
        assert await call_with(own, each) == 401, each


async def test_the_roles_in_a_token_only_inform(own: Application, email: str) -> None:
    token = (await tokens_of(own, email))["Token"]
    secrets = own.platform.container.get(Secrets)
    claims = {**jwt.decode(token, options={"verify_signature": False}), "roles": ["Admin"], "name": "admin"}
    headers = {"typ": "at+jwt", "kid": secrets.key_id}
    forged = jwt.encode(claims, secrets.subkey(Purpose.TOKENS), algorithm="HS256", headers=headers)
    answer = await own.anonymous.get("/identity/user", headers={"Authorization": f"Bearer {forged}"})
    assert answer.status_code == 403


async def test_an_access_token_from_before_a_key_rotation_still_holds(own: Application, email: str) -> None:
    user = await own.platform.container.get(Users).named(email)
    policy, clock = IdentityPolicy(), own.platform.container.get(Clock)
    old, new = os.urandom(32), os.urandom(32)
    token = AccessTokens(Secrets(old), policy, clock).issue(user)
    claims = AccessTokens(Secrets(new, [old]), policy, clock).verify(token)
    assert claims is not None
    assert claims.sub == user.key


# Refresh tokens


async def test_a_refresh_token_gives_the_next_pair(own: Application, email: str) -> None:
    first = await tokens_of(own, email)
    second = (await refresh(own, first["RefreshToken"])).json()
    assert second["RefreshToken"] != first["RefreshToken"]
    assert await call_with(own, second["Token"]) == 200
    assert (await refresh(own, second["RefreshToken"])).status_code == 200


async def test_when_the_answer_was_lost_the_same_refresh_token_comes_again(
    own: Application, email: str, clock: ManualClock
) -> None:
    first = await tokens_of(own, email)
    second = (await refresh(own, first["RefreshToken"])).json()
    await clock.advance(timedelta(seconds=30))
    again = (await refresh(own, first["RefreshToken"])).json()
    assert again["RefreshToken"] == second["RefreshToken"]
    assert await call_with(own, again["Token"]) == 200
    assert (await refresh(own, second["RefreshToken"])).status_code == 200


async def test_a_refresh_token_used_again_later_ends_the_whole_session(
    own: Application, email: str, clock: ManualClock
) -> None:
    first = await tokens_of(own, email)
    second = (await refresh(own, first["RefreshToken"])).json()
    other = await tokens_of(own, email)
    await clock.advance(timedelta(seconds=31))
    assert (await refresh(own, first["RefreshToken"])).status_code == 401
    assert (await refresh(own, second["RefreshToken"])).status_code == 401
    assert (await refresh(own, other["RefreshToken"])).status_code == 200


async def test_the_token_before_the_last_one_ends_the_session_even_at_once(own: Application, email: str) -> None:
    first = await tokens_of(own, email)
    second = (await refresh(own, first["RefreshToken"])).json()
    third = (await refresh(own, second["RefreshToken"])).json()
    assert (await refresh(own, first["RefreshToken"])).status_code == 401
    assert (await refresh(own, third["RefreshToken"])).status_code == 401
    user = await own.platform.container.get(Users).named(email)
    span = {"entityId": str(user.key), "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    events = (await own.admin.get("/events/store", params=span)).json()
    assert events[0]["EventType"] == "users.session-revoked"


async def test_all_who_refresh_with_one_token_at_once_get_the_same_next_one(own: Application, email: str) -> None:
    first = await tokens_of(own, email)
    answers = await asyncio.gather(*(refresh(own, first["RefreshToken"]) for _ in range(12)))
    assert {answer.status_code for answer in answers} == {200}
    following = {answer.json()["RefreshToken"] for answer in answers}
    assert len(following) == 1
    assert (await refresh(own, following.pop())).status_code == 200


async def test_refreshes_that_meet_in_the_store_agree_on_the_next_token(own: Application, email: str) -> None:
    sessions = own.platform.container.get(Sessions)
    token = (await tokens_of(own, email))["RefreshToken"]
    for _ in range(10):
        results = await asyncio.gather(*(sessions.refresh(token) for _ in range(20)))
        following = {result.refresh_token for result in results}
        assert len(following) == 1
        token = following.pop() or ""


async def test_a_refresh_token_lasts_its_time_from_its_last_use(
    own: Application, email: str, clock: ManualClock
) -> None:
    sessions = sessions_with(own, IdentityPolicy(refresh_token=timedelta(minutes=10)))
    token = (await sessions.login(LoginModel(user_name=email, password=PASSWORDS[email]), "127.0.0.9")).refresh_token
    for _ in range(3):
        await clock.advance(timedelta(minutes=9, seconds=59))
        token = (await sessions.refresh(token)).refresh_token
    await clock.advance(timedelta(minutes=10))
    with pytest.raises(Unauthenticated):
        await sessions.refresh(token)


def test_without_settings_refresh_tokens_last_fourteen_days() -> None:
    assert IdentityPolicy().refresh_token == timedelta(days=14)
    assert IdentityPolicy().refresh_grace == timedelta(seconds=30)


def sessions_with(application: Application, policy: IdentityPolicy, passwords: Passwords | None = None) -> Sessions:
    """The application's sessions under another policy."""
    container = application.platform.container
    return Sessions(
        container.get(Store),
        container.get(Clock),
        container.get(Secrets),
        policy,
        container.get(Users),
        passwords or container.get(Passwords),
        container.get(AccessTokens),
        container.get(LoginThrottle),
    )


async def test_what_is_no_refresh_token_is_401_and_ends_nothing(own: Application, email: str) -> None:
    tokens = await tokens_of(own, email)
    good = tokens["RefreshToken"]
    for bad in ("x", "rt_", good[:-1], good + "A", good[3:], good.upper(), "rt_" + "A" * 64, tokens["Token"], "é"):
        assert (await refresh(own, bad)).status_code == 401, bad
    assert (await refresh(own, good)).status_code == 200


async def test_a_missing_refresh_token_is_named(own: Application) -> None:
    for token in (None, ""):
        answer = await refresh(own, token)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "RefreshToken")


async def test_a_refresh_token_is_no_credential_by_itself(own: Application, email: str) -> None:
    assert await call_with(own, (await tokens_of(own, email))["RefreshToken"]) == 401


async def test_lost_answers_are_given_again_after_a_restart_and_a_key_rotation(tmp_path: Path) -> None:
    old, new = (b64encode(os.urandom(32)).decode() for _ in range(2))
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=old) as application:
        first = (await log_in(application, "admin", ADMIN_PASSWORD)).json()
        second = (await refresh(application, first["RefreshToken"])).json()
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=old) as application:
        again = (await refresh(application, first["RefreshToken"])).json()
        assert again["RefreshToken"] == second["RefreshToken"]
    rotated = {"PENSTOCK_SECRET_KEY": new, "PENSTOCK_SECRET_KEY_PREVIOUS": old}
    async with running_application(tmp_path, **rotated) as application:
        again = (await refresh(application, first["RefreshToken"])).json()
        assert again["RefreshToken"] == second["RefreshToken"]
        assert await call_with(application, second["Token"]) == 200
        third = await refresh(application, second["RefreshToken"])
        assert third.status_code == 200


# Password hashes


async def test_a_login_renews_a_hash_that_was_made_with_other_parameters(own: Application, email: str) -> None:
    users, policy = own.platform.container.get(Users), IdentityPolicy(hash_passes=3)
    stronger = Passwords(policy)
    before = await users.password_hash(await users.named(email))
    assert before is not None
    assert stronger.outdated(before)
    sessions = sessions_with(own, policy, stronger)
    tokens = await tokens_of(own, email)
    await sessions.login(LoginModel(user_name=email, password=PASSWORDS[email]), "127.0.0.9")
    after = await users.password_hash(await users.named(email))
    assert after is not None
    assert after != before
    assert (await log_in(own, email, PASSWORDS[email])).status_code == 200
    assert await call_with(own, tokens["Token"]) == 200


async def test_nobody_has_every_password() -> None:
    passwords = Passwords(IdentityPolicy())
    assert not await passwords.verify(None, "")
    assert not await passwords.verify("not a hash", "x")
    assert await passwords.verify(await passwords.hash("x"), "x")
