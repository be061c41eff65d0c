"""What holds for users and keys alike: who may handle them, the audit log, and what is kept where."""

import json
from pathlib import Path

from penstock.areas.identity.service import Users
from tests.application import ADMIN_PASSWORD, Application, running_application
from tests.areas.accounts import call_with, create, create_key, delete, log_in
from tests.areas.files import files_that_contain


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
