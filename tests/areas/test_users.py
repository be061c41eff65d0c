"""Users over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.application import ADMIN_PASSWORD, Application, running_application
from tests.areas.accounts import admins, call_with, create, create_key, delete, log_in


@pytest.fixture(scope="module")
async def own(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Application]:
    """An application of this module's own, for tests that delete Admins or fail logins."""
    async with running_application(tmp_path_factory.mktemp("identity")) as running:
        yield running


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
