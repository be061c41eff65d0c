"""API keys over HTTP."""

import asyncio

import pytest

from tests.application import Application
from tests.areas.accounts import call_with, create, create_key


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
