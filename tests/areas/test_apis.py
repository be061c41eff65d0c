"""APIs over HTTP: made, changed, removed; which prefixes go together."""

import asyncio

import httpx
import pytest

from tests.application import Application
from tests.areas.published import conflict, new_api, new_subscription, new_version, post_version, refused
from tests.areas.resource_suite import Entity, Readable, Removable

PATH = "/apim/apis"


class TestApis(Readable):
    path = PATH
    key = "Name"

    async def make(self, application: Application, name: str) -> Entity:
        return await new_api(application, name)


class TestRemoval(Removable):
    path = PATH
    key = "Name"
    make = TestApis.make


async def post(application: Application, name: str, prefix: str) -> httpx.Response:
    return await application.operator.post(PATH, json={"Name": name, "Prefix": prefix})


async def test_the_prefix_is_the_name_unless_it_is_given(application: Application, name: str) -> None:
    assert (await new_api(application, name))["Prefix"] == name
    assert (await new_api(application, f"{name}-b", Prefix=f"/shop/{name}/"))["Prefix"] == f"shop/{name}"


async def test_it_shows_its_versions_and_who_lists_them_newest_first(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_version(application, name, "v1")
    await new_version(application, name, "v2", Type="address")
    await new_subscription(application, f"{name}-all", name)
    await new_subscription(application, f"{name}-one", f"{name}/v1")
    found = (await application.reader.get(f"{PATH}/{name.upper()}")).json()
    assert [version["Version"] for version in found["Versions"]] == ["v2", "v1"]
    assert found["Versions"][1]["Parameters"] == '{"Url":"http://127.0.0.1:9/base"}'
    assert [each["Name"] for each in found["Subscriptions"]] == [f"{name}-one", f"{name}-all"]
    assert {each["Key"] for each in found["Subscriptions"]} == {"********"}


@pytest.mark.parametrize("prefix", ["a//b", "..", "a/../b", ".hidden", "a b", "ä", "a?b", "a%2Fb", "x" * 201, "/"])
async def test_a_prefix_that_no_route_can_have_is_refused(application: Application, name: str, prefix: str) -> None:
    assert refused(await post(application, name, prefix)) == {"Prefix"}


@pytest.mark.parametrize("wrong", ["", "a/b", "versions", "-a", "x" * 129])
async def test_a_name_that_no_path_can_have_is_refused(application: Application, wrong: str) -> None:
    assert "Name" in refused(await application.operator.post(PATH, json={"Name": wrong, "Prefix": "fine"}))


async def test_two_apis_have_neither_one_name_nor_one_prefix(application: Application, name: str) -> None:
    await new_api(application, name)
    assert conflict(await post(application, name.upper(), f"{name}-other")) == (409, "name-taken")
    taken = await post(application, f"{name}-b", name.upper())
    assert conflict(taken) == (409, "name-taken")
    assert name in taken.json()["detail"]


async def test_no_prefix_begins_with_the_route_of_a_version(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_version(application, name, "v1")
    for prefix in (f"{name}/v1", f"{name}/v1/more"):
        assert conflict(await post(application, f"{name}-b", prefix)) == (409, "name-taken")
    assert (await post(application, f"{name}-b", f"{name}/v10")).status_code == 201


async def test_no_version_is_where_another_prefix_goes_on(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_api(application, f"{name}-b", Prefix=f"{name}/internal/tools")
    assert conflict(await post_version(application, name, "internal")) == (409, "name-taken")
    await new_version(application, name, "v1")


async def test_of_two_that_take_one_prefix_at_once_one_wins(application: Application, name: str) -> None:
    answers = await asyncio.gather(*(post(application, f"{name}-{number}", name) for number in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]


async def test_a_changed_prefix_moves_the_versions_unless_they_would_meet_others(
    application: Application, name: str
) -> None:
    await new_api(application, name)
    await new_version(application, name, "v1")
    await new_api(application, f"{name}-b", Prefix=f"{name}-c/v1")
    answer = await application.operator.put(f"{PATH}/{name}", json={"Prefix": f"{name}-c"})
    assert conflict(answer) == (409, "name-taken")
    answer = await application.operator.put(f"{PATH}/{name}", json={"Prefix": f"{name}-d", "Description": "moved"})
    assert (answer.status_code, answer.json()["Prefix"]) == (200, f"{name}-d")


async def test_a_change_of_what_was_changed_meanwhile_is_stale(application: Application, name: str) -> None:
    await new_api(application, name)
    tag = (await application.reader.get(f"{PATH}/{name}")).headers["etag"]
    for expected in (200, 412):
        answer = await application.operator.put(
            f"{PATH}/{name}", json={"Description": "new"}, headers={"If-Match": tag}
        )
        assert answer.status_code == expected
    assert (await application.operator.delete(f"{PATH}/{name}", headers={"If-Match": tag})).status_code == 412


async def test_the_name_stays(application: Application, name: str) -> None:
    await new_api(application, name)
    assert refused(await application.operator.put(f"{PATH}/{name}", json={"Name": f"{name}-b"})) == {"Name"}


async def test_an_api_with_versions_or_subscriptions_is_not_removed(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_version(application, name, "v1")
    answer = await application.operator.delete(f"{PATH}/{name}")
    assert (conflict(answer), "v1" in answer.json()["detail"]) == ((409, "in-use"), True)
    await new_subscription(application, f"{name}-s", name)
    assert (await application.operator.delete(f"/apim/apiversions/{name}/v1")).status_code == 200
    answer = await application.operator.delete(f"{PATH}/{name}")
    assert (conflict(answer), f"{name}-s" in answer.json()["detail"]) == ((409, "in-use"), True)
    assert (await application.admin.delete(f"/apim/subscriptions/{name}-s")).status_code == 200
    assert (await application.operator.delete(f"{PATH}/{name}")).status_code == 200
