"""Users and API keys over HTTP."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from penstock.areas.identity.service import Users
from penstock.kernel.errors import Invalid
from penstock.server.first_start import prepare_first_start
from penstock.server.platform import open_platform
from tests.application import ADMIN_PASSWORD, Application, running_application, settings_for
from tests.areas.files import files_that_contain


@pytest.fixture
def email() -> str:
    return f"{uuid4().hex[:12]}@example.com"


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """An application of this module's own, for tests that delete Admins or fail logins."""
    async with running_application(tmp_path_factory.mktemp("identity")) as running:
        yield running


async def create(application: Application, email: str, roles: str = "Reader") -> str:
    """Creates a user; the generated password."""
    answer = await application.admin.post("/identity/user", json={"Email": email, "Roles": roles})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["Password"])


async def delete(application: Application, username: Any) -> httpx.Response:
    return await application.admin.request("DELETE", "/identity/user", json=username)


async def log_in(application: Application, username: str, password: str) -> httpx.Response:
    model = {"UserName": username, "Password": password}
    return await application.anonymous.post("/identity/login/username", json=model)


async def create_key(application: Application, username: str, **query: str) -> httpx.Response:
    return await application.admin.post("/identity/apikey", params={"username": username, **query})


async def call_with(application: Application, **headers: str | bytes) -> int:
    """The status of a read that needs the role Reader."""
    return (await application.anonymous.get("/variables", headers=dict(headers))).status_code


# Users


async def test_a_new_user_gets_a_generated_password_that_logs_in(application: Application, email: str) -> None:
    answer = await application.admin.post("/identity/user", json={"Email": email, "Roles": "Reader"})
    assert answer.json().keys() == {"Username", "Password", "Roles"}
    assert answer.json()["Username"] == email
    assert answer.json()["Roles"] == ["Reader"]
    assert (await log_in(application, email, answer.json()["Password"])).status_code == 200


async def test_passwords_are_never_listed(application: Application, email: str) -> None:
    password = await create(application, email)
    listed = await application.admin.get("/identity/user")
    assert {"Username": email, "Password": None, "Roles": ["Reader"]} in listed.json()
    assert password not in listed.text


async def test_users_are_listed_newest_first(application: Application, email: str) -> None:
    await create(application, email)
    await create(application, "later." + email)
    listed = [user["Username"] for user in (await application.admin.get("/identity/user")).json()]
    assert listed.index("later." + email) < listed.index(email)


async def test_roles_are_separated_by_commas_compared_without_case_and_kept_once(
    application: Application, email: str
) -> None:
    model = {"Email": email, "Roles": " operator,Reader ,OPERATOR,"}
    answer = await application.admin.post("/identity/user", json=model)
    assert answer.json()["Roles"] == ["Operator", "Reader"]


async def test_a_user_may_do_what_the_roles_allow_and_no_more(application: Application, email: str) -> None:
    client = await application.client_for(email, await create(application, email, "Reader"))
    async with client:
        assert (await client.get("/variables")).status_code == 200
        assert (await client.get("/identity/user")).status_code == 403


@pytest.mark.parametrize("roles", ["Emperor", "Reader,Emperor", "Agent"])
async def test_an_unknown_role_is_404_without_body_and_agent_is_no_role_of_users(
    application: Application, email: str, roles: str
) -> None:
    answer = await application.admin.post("/identity/user", json={"Email": email, "Roles": roles})
    assert (answer.status_code, answer.content) == (404, b"")
    assert email not in (await application.admin.get("/identity/user")).text


async def test_a_taken_name_is_409_without_body_whatever_its_case(application: Application, email: str) -> None:
    await create(application, email)
    for taken in (email, email.upper()):
        answer = await application.admin.post("/identity/user", json={"Email": taken, "Roles": "Reader"})
        assert (answer.status_code, answer.content) == (409, b"")


async def test_of_many_who_create_one_user_at_once_one_succeeds(application: Application, email: str) -> None:
    model = {"Email": email, "Roles": "Reader"}
    answers = await asyncio.gather(*(application.admin.post("/identity/user", json=model) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 7


BAD_ADDRESSES = ["name", "admin", "@example.com", "a@", "a b@example.com", "a/b@example.com", "a@b@c", "a@-b.com"]
BAD_ADDRESSES += ["a\n@example.com", "a@example.com\n", "é@example.com", "a" * 250 + "@example.com"]


@pytest.mark.parametrize("bad", BAD_ADDRESSES)
async def test_what_is_no_email_address_is_refused_by_name(application: Application, bad: str) -> None:
    answer = await application.admin.post("/identity/user", json={"Email": bad, "Roles": "Reader"})
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["Email"]


async def test_everything_that_is_missing_is_named_at_once(application: Application) -> None:
    for model in ({}, {"Email": None, "Roles": " , "}, {"Email": "", "Roles": ""}):
        answer = await application.admin.post("/identity/user", json=model)
        assert answer.status_code == 400
        assert [error["field"] for error in answer.json()["errors"]] == ["Email", "Roles"]


async def test_deleting_a_user_ends_password_tokens_and_keys(own: Application, email: str) -> None:
    password = await create(own, email)
    tokens = (await log_in(own, email, password)).json()
    key = (await create_key(own, email)).json()
    bearer = {"Authorization": f"Bearer {tokens['Token']}"}
    assert await call_with(own, **bearer) == 200
    assert await call_with(own, **{"X-API-Key": key}) == 200

    assert (await delete(own, email)).status_code == 200

    assert await call_with(own, **bearer) == 401
    assert await call_with(own, **{"X-API-Key": key}) == 401
    refreshed = await own.anonymous.post("/identity/login/refresh", json={"RefreshToken": tokens["RefreshToken"]})
    assert refreshed.status_code == 401
    assert (await log_in(own, email, password)).status_code == 401
    assert email not in (await own.admin.get("/identity/user")).text


async def test_a_user_created_anew_under_the_same_name_does_not_revive_old_credentials(
    own: Application, email: str
) -> None:
    password = await create(own, email)
    old = (await log_in(own, email, password)).json()["Token"]
    key = (await create_key(own, email)).json()
    await delete(own, email)
    await create(own, email)
    assert await call_with(own, Authorization=f"Bearer {old}") == 401
    assert await call_with(own, **{"X-API-Key": key}) == 401
    assert (await log_in(own, email, password)).status_code == 401
    assert (await own.admin.get(f"/identity/apikey/{email}")).json() == []


async def test_a_user_is_deleted_under_its_name_in_any_case(application: Application, email: str) -> None:
    await create(application, email)
    assert (await delete(application, email.upper())).status_code == 200


async def test_deleting_answers_no_body_whatever_the_outcome(application: Application, email: str) -> None:
    await create(application, email)
    for name, status in ((email, 200), (email, 404), ("", 400), ("  ", 400), (["x"], 400), (None, 400)):
        answer = await delete(application, name)
        assert (answer.status_code, answer.content) == (status, b""), name
    absent = await application.admin.request("DELETE", "/identity/user")
    assert (absent.status_code, absent.content) == (400, b"")


async def test_the_last_admin_cannot_be_deleted(own: Application) -> None:
    answer = await delete(own, "admin")
    assert (answer.status_code, answer.content) == (400, b"")
    assert (await own.admin.get("/identity/user")).status_code == 200


async def test_of_all_admins_deleted_at_once_one_stays(tmp_path: Path, email: str) -> None:
    async with running_application(tmp_path) as application:
        passwords = {"admin": ADMIN_PASSWORD}
        for attempt in range(5):
            for number in range(3):
                name = f"{attempt}.{number}.{email}"
                passwords[name] = await create(application, name, "Admin")
            answers = await asyncio.gather(*(delete(application, name) for name in passwords))
            # The token of the one who deletes ends with its user: then the deletions that follow are 401.
            assert {answer.status_code for answer in answers} <= {200, 400, 401}
            left = await admins(application)
            assert left
            passwords = {name: passwords[name] for name in left}
            await application.admin.aclose()
            application.admin = await application.client_for(left[0], passwords[left[0]])


async def admins(application: Application) -> list[str]:
    """The names of all Admins, whether or not the application's own client still may ask."""
    users = await application.platform.container.get(Users).list()
    return [user.username or "" for user in users if "Admin" in (user.roles or [])]


# The first Admin


async def test_the_first_start_generates_a_password_and_the_second_does_not(tmp_path: Path) -> None:
    settings = settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="")
    async with open_platform(settings) as platform:
        password = await prepare_first_start(platform)
        assert password
    async with running_application(tmp_path, PENSTOCK_ADMIN_PASSWORD=password) as application:
        assert await prepare_first_start(application.platform) is None
        assert (await log_in(application, "admin", password)).status_code == 200
    assert files_that_contain(tmp_path, password) == []


async def test_a_password_that_somebody_keeps_is_on_disk_before_the_admin_is(tmp_path: Path) -> None:
    kept = tmp_path / "first-password"
    settings = settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="", PENSTOCK_FIRST_PASSWORD_FILE=str(kept))
    kept.write_text("from a start that was broken off")
    async with open_platform(settings) as platform:
        assert await prepare_first_start(platform) is None
        assert kept.read_text() == "from a start that was broken off"
        kept.unlink()
        assert await prepare_first_start(platform) is None
        assert not kept.exists()
    password = "from a start that was broken off"
    async with running_application(tmp_path, PENSTOCK_ADMIN_PASSWORD=password) as application:
        assert (await log_in(application, "admin", password)).status_code == 200


async def test_a_password_that_is_made_is_kept_for_the_owner_alone(tmp_path: Path) -> None:
    kept = tmp_path / "first-password"
    async with open_platform(
        settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="", PENSTOCK_FIRST_PASSWORD_FILE=str(kept))
    ) as platform:
        assert await prepare_first_start(platform) is None
    assert kept.stat().st_mode & 0o777 == 0o600
    async with running_application(tmp_path, PENSTOCK_ADMIN_PASSWORD=kept.read_text()) as application:
        assert application.admin.headers["Authorization"]


async def test_a_server_does_not_start_with_a_master_key_that_opens_nothing(tmp_path: Path) -> None:
    async with open_platform(settings_for(tmp_path)) as platform:
        await prepare_first_start(platform)
    (tmp_path / "secret-key").unlink()
    async with open_platform(settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="")) as platform:
        with pytest.raises(Invalid, match="PENSTOCK_SECRET_KEY"):
            await prepare_first_start(platform)
    async with running_application(tmp_path) as application:  # a password given goes on without the secrets
        assert (await application.admin.get("/agents")).status_code == 200


async def test_another_password_in_the_settings_replaces_the_one_of_before_and_ends_its_sessions(
    tmp_path: Path,
) -> None:
    async with running_application(tmp_path, PENSTOCK_ADMIN_PASSWORD=ADMIN_PASSWORD) as application:
        token = application.admin.headers["Authorization"]
        users = application.platform.container.get(Users)
        assert await call_with(application, Authorization=token) == 200
        assert await users.ensure_admin(ADMIN_PASSWORD) is None
        assert await call_with(application, Authorization=token) == 200
        assert await users.ensure_admin("another password") is None
        assert await call_with(application, Authorization=token) == 401
        assert (await log_in(application, "admin", "another password")).status_code == 200
        assert (await log_in(application, "admin", ADMIN_PASSWORD)).status_code == 401


async def test_an_admin_who_was_deleted_does_not_come_back_while_there_is_another(tmp_path: Path) -> None:
    async with running_application(tmp_path) as application:
        await create(application, "boss@example.com", "Admin")
        assert (await delete(application, "admin")).status_code == 200
        users = application.platform.container.get(Users)
        assert await users.ensure_admin(None) is None
        assert await users.ensure_admin(ADMIN_PASSWORD) is None
        assert await admins(application) == ["boss@example.com"]


async def test_of_replicas_that_start_at_once_one_makes_the_first_admin(tmp_path: Path) -> None:
    async with open_platform(settings_for(tmp_path)) as platform:
        users = platform.container.get(Users)
        passwords = await asyncio.gather(*(users.ensure_admin(None) for _ in range(4)))
        assert len([password for password in passwords if password]) == 1


async def test_a_short_password_for_the_first_admin_is_refused_by_its_setting(tmp_path: Path) -> None:
    async with open_platform(settings_for(tmp_path, PENSTOCK_ADMIN_PASSWORD="1234567")) as platform:
        with pytest.raises(Invalid, match="PENSTOCK_ADMIN_PASSWORD"):
            await prepare_first_start(platform)


# API keys


async def test_an_api_key_acts_as_its_user_in_either_header(application: Application, email: str) -> None:
    await create(application, email, "Operator")
    answer = await create_key(application, email, name="ci", description="Builds")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    key = answer.json()
    assert key.startswith("pk_")
    assert await call_with(application, **{"X-API-Key": key}) == 200
    assert await call_with(application, Authorization=f"Bearer {key}") == 200
    denied = await application.anonymous.get("/identity/user", headers={"X-API-Key": key})
    assert denied.status_code == 403


async def test_api_keys_are_listed_by_name_oldest_first(application: Application, email: str) -> None:
    await create(application, email)
    keys = [(await create_key(application, email, name=name)).json() for name in ("b", "a", "C.1-x_")]
    listed = await application.admin.get(f"/identity/apikey/{email}")
    assert listed.json() == ["b", "a", "C.1-x_"]
    assert not any(key in listed.text for key in keys)


async def test_a_key_without_a_name_is_called_default(application: Application, email: str) -> None:
    await create(application, email)
    assert (await create_key(application, email)).status_code == 200
    assert (await create_key(application, email, name="")).status_code == 409
    assert (await application.admin.get(f"/identity/apikey/{email}")).json() == ["default"]


async def test_key_names_are_unique_per_user_whatever_their_case(application: Application, email: str) -> None:
    await create(application, email)
    await create(application, "other." + email)
    assert (await create_key(application, email, name="ci")).status_code == 200
    taken = await create_key(application, email, name="CI")
    assert (taken.status_code, taken.json()["code"]) == (409, "name-taken")
    assert (await create_key(application, "other." + email, name="ci")).status_code == 200


async def test_keys_created_at_once_are_all_kept(application: Application, email: str) -> None:
    await create(application, email)
    names = [f"key-{number}" for number in range(12)]
    answers = await asyncio.gather(*(create_key(application, email, name=name) for name in names))
    assert [answer.status_code for answer in answers] == [200] * 12
    assert sorted((await application.admin.get(f"/identity/apikey/{email}")).json()) == sorted(names)
    for answer in answers:
        assert await call_with(application, **{"X-API-Key": answer.json()}) == 200


async def test_of_keys_created_at_once_under_one_name_one_is_made(application: Application, email: str) -> None:
    await create(application, email)
    answers = await asyncio.gather(*(create_key(application, email, name="same") for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5


async def test_a_deleted_key_stops_working_and_the_others_go_on(application: Application, email: str) -> None:
    await create(application, email)
    first = (await create_key(application, email, name="first")).json()
    second = (await create_key(application, email, name="second")).json()
    assert await call_with(application, **{"X-API-Key": first}) == 200

    answer = await application.admin.delete(f"/{email}/FIRST")
    assert (answer.status_code, answer.content) == (200, b"")

    assert await call_with(application, **{"X-API-Key": first}) == 401
    assert await call_with(application, **{"X-API-Key": second}) == 200
    assert (await application.admin.get(f"/identity/apikey/{email}")).json() == ["second"]
    assert (await application.admin.delete(f"/{email}/first")).status_code == 404
    assert (await create_key(application, email, name="first")).status_code == 200


async def test_keys_of_unknown_users_are_404(application: Application) -> None:
    assert (await application.admin.get("/identity/apikey/nobody@example.com")).status_code == 404
    assert (await create_key(application, "nobody@example.com")).status_code == 404
    assert (await application.admin.delete("/nobody@example.com/default")).status_code == 404


@pytest.mark.parametrize("name", ["-x", "a b", "a/b", "x" * 129, "ü", "..", "a\x00"])
async def test_key_names_reach_paths_so_others_are_refused(application: Application, email: str, name: str) -> None:
    await create(application, email)
    answer = await create_key(application, email, name=name)
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == ["name"]


async def test_a_key_needs_a_user_name_and_a_short_description(application: Application, email: str) -> None:
    missing = await application.admin.post("/identity/apikey")
    assert (missing.status_code, missing.json()["errors"][0]["field"]) == (400, "username")
    await create(application, email)
    long = await create_key(application, email, description="x" * 1025)
    assert (long.status_code, long.json()["errors"][0]["field"]) == (400, "description")


async def test_a_user_has_at_most_a_hundred_keys(application: Application, email: str) -> None:
    await create(application, email)
    for number in range(100):
        assert (await create_key(application, email, name=f"k{number}")).status_code == 200
    assert (await create_key(application, email, name="one-more")).status_code == 400


async def test_what_is_no_key_is_401(application: Application, email: str) -> None:
    await create(application, email)
    key = (await create_key(application, email)).json()
    swapped = key[:-1] + ("A" if key[-1] != "A" else "B")
    for bad in (swapped, key + "A", key[:-1], "pk_", "pk_é".encode(), key.upper(), key[3:], "x"):
        assert await call_with(application, **{"X-API-Key": bad}) == 401, bad


# Who may


async def test_only_admins_handle_users_and_keys(application: Application) -> None:
    calls = [
        ("GET", "/identity/user"),
        ("POST", "/identity/user"),
        ("DELETE", "/identity/user"),
        ("GET", "/identity/apikey/admin"),
        ("POST", "/identity/apikey?username=admin"),
        ("DELETE", "/admin/default"),
    ]
    for method, path in calls:
        for client, status in ((application.operator, 403), (application.reader, 403), (application.anonymous, 401)):
            assert (await client.request(method, path)).status_code == status, (method, path)


# The audit log, and what is kept where


async def test_users_and_keys_are_in_the_audit_log_without_secrets(application: Application, email: str) -> None:
    password = await create(application, email)
    key = (await create_key(application, email, name="ci", description="Builds")).json()
    id = (await application.platform.container.get(Users).named(email)).key
    await delete(application, email)
    span = {"entityId": str(id), "fromDate": "2020-01-01", "toDate": "2100-01-01"}
    events = (await application.admin.get("/events/store", params=span)).json()
    assert [event["EventType"] for event in events] == ["users.deleted", "users.updated", "users.created"]
    assert {event["Source"] for event in events} == {"admin"}
    assert {event["Subject"] for event in events} == {email}
    content = json.loads(events[1]["Content"])
    assert content["Before"]["ApiKeys"] == []
    assert content["After"]["ApiKeys"] == [{"Name": "ci", "Description": "Builds"}]
    told = json.dumps(events)
    assert password not in told
    assert key[3:] not in told
    assert "argon2" not in told
    assert "Hash" not in told


async def test_no_password_token_or_key_is_kept_in_the_clear(tmp_path: Path, email: str) -> None:
    async with running_application(tmp_path) as application:
        password = await create(application, email)
        tokens = (await log_in(application, email, password)).json()
        refreshed = await application.anonymous.post(
            "/identity/login/refresh", json={"RefreshToken": tokens["RefreshToken"]}
        )
        key = (await create_key(application, email)).json()
        await call_with(application, **{"X-API-Key": key})
        await log_in(application, email, "a wrong password")
        secrets = [password, ADMIN_PASSWORD, "a wrong password", key, *tokens.values(), *refreshed.json().values()]
        # The part of a token behind its subject, which may be known.
        secrets += [secret[-40:] for secret in secrets if len(secret) > 60]
        running = {secret: files_that_contain(tmp_path, secret) for secret in secrets}
    for secret in secrets:
        assert running[secret] == []
        assert files_that_contain(tmp_path, secret) == []
    assert files_that_contain(tmp_path, "argon2id") == []
    assert files_that_contain(tmp_path, email) != []
