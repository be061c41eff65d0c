"""Versions of APIs over HTTP: what serves them, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from tests.application import Application, running_application
from tests.areas.published import conflict, new_api, new_subscription, new_version, post_version, refused
from tests.areas.resource_suite import Entity, Readable, Removable

PATH = "/apim/apiversions"


class TestVersions(Readable):
    path = PATH
    key = "Key"
    unknown = "nothing/v1"

    async def make(self, application: Application, name: str) -> Entity:
        await new_api(application, name)
        return await new_version(application, name)


class TestRemoval(Removable):
    path = PATH
    key = "Key"
    make = TestVersions.make


async def test_those_of_an_api_are_listed_newest_first(application: Application, name: str) -> None:
    await new_api(application, name)
    for version in ("v1", "v2"):
        await new_version(application, name, version)
    found = (await application.reader.get("/apim/apis/versions", params={"apiName": name.upper()})).json()
    assert [each["Key"] for each in found] == [f"{name}/v2", f"{name}/v1"]
    assert (await application.reader.get("/apim/apis/versions", params={"apiName": "nothing"})).status_code == 404
    assert (await application.reader.get("/apim/apis/versions")).status_code == 400


async def test_what_is_left_out_has_a_default(application: Application, name: str) -> None:
    await new_api(application, name)
    made = await new_version(application, name, Connection={"AllowAutoRedirect": True})
    assert made["Connection"] == {
        "UseProxy": False,
        "AllowAutoRedirect": True,
        "AutomaticDecompression": 0,
        "UseCookies": True,
        "ConnectTimeout": "00:00:15",
    }
    assert (made["Authentication"], made["Variables"]) == (None, {})


async def test_the_api_must_exist_and_the_version_be_new(application: Application, name: str) -> None:
    assert refused(await post_version(application, name)) == {"ApiName"}
    await new_api(application, name)
    await new_version(application, name, "v1")
    assert conflict(await post_version(application, name, "V1")) == (409, "name-taken")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"Version": "v1/x"}, "Version"),
        ({"Version": ""}, "Version"),
        ({"Version": "x" * 65}, "Version"),
        ({"Key": "other/v1"}, "Key"),
        ({"Type": "rocket"}, "Type"),
        ({"Parameters": {}}, "Parameters.Url"),
        ({"Parameters": {"Url": "ftp://example.com"}}, "Parameters.Url"),
        ({"Parameters": {"Url": "http://user:word@example.com"}}, "Parameters.Url"),
        ({"Parameters": {"Url": "http://example.com:99999"}}, "Parameters.Url"),
        ({"Parameters": {"Url": "http://example.com/?a=1"}}, "Parameters.Url"),
        ({"Parameters": {"Url": "http://exa mple.com"}}, "Parameters.Url"),
        ({"Parameters": {"Url": "http://[::1"}}, "Parameters.Url"),
        ({"Parameters": {"Colour": "red"}}, "Parameters.Colour"),
        ({"Parameters": {"Timeout": "02:00:00"}}, "Parameters.Timeout"),
        ({"Parameters": {"Timeout": "soon"}}, "Parameters.Timeout"),
        ({"Parameters": {"Retries": 11}}, "Parameters.Retries"),
        ({"Parameters": {"HealthPath": "health"}}, "Parameters.HealthPath"),
        ({"Parameters": {"Headers": {"Host": "x"}}}, "Parameters.Headers.Host"),
        ({"Parameters": {"Headers": {"X-A": "line\r\nbreak"}}}, "Parameters.Headers.X-A"),
        ({"Parameters": {"Headers": {"Authorization": "Bearer abc"}}}, "Parameters.Headers.Authorization"),
        ({"Parameters": {"Sunset": "2030-01-01", "Deprecated": "2031-01-01"}}, "Parameters.Sunset"),
        ({"Variables": {"NAME": 1}}, "Variables.NAME"),
        ({"Variables": {"NA ME": "x"}}, "Variables.NA ME"),
        ({"Authentication": {"Type": "password"}}, "Authentication.Type"),
        ({"Authentication": {"Type": "none,apikey"}}, "Authentication.Type"),
        ({"Authentication": {"Type": "oidc", "Parameters": {"Issuer": "x"}}}, "Authentication.Parameters"),
        ({"Connection": {"ConnectTimeout": "00:06:00"}}, "Connection.ConnectTimeout"),
        ({"Connection": {"ConnectTimeout": "-00:00:01"}}, "Connection.ConnectTimeout"),
        ({"Connection": {"AutomaticDecompression": 3}}, "Connection.AutomaticDecompression"),
    ],
)
async def test_what_is_wrong_is_refused_by_name(
    application: Application, name: str, fields: dict[str, Any], named: str
) -> None:
    await new_api(application, name)
    parameters = {"Url": "http://127.0.0.1:9"} | fields.get("Parameters", {})
    wanted = fields | ({} if fields.get("Parameters") == {} else {"Parameters": parameters})
    assert refused(await post_version(application, name, **wanted)) == {named}
    assert (await application.reader.get(f"/apim/apis/{name}")).json()["Versions"] == []


async def test_every_problem_is_told_at_once(application: Application, name: str) -> None:
    parameters = {"Url": "x", "Retries": 99, "Timeout": "09:00:00", "Headers": {"X-Token": "abc"}}
    answer = await post_version(application, name, "v/1", Parameters=parameters)
    at = "Parameters."
    assert refused(answer) == {"Version", f"{at}Url", f"{at}Retries", f"{at}Timeout", f"{at}Headers.X-Token"}


@pytest.mark.parametrize(("type", "named"), [("endpoint", "Endpoint"), ("trigger", "Trigger")])
async def test_what_serves_it_must_exist(application: Application, name: str, type: str, named: str) -> None:
    await new_api(application, name)
    answer = await post_version(application, name, Type=type, Parameters={named: f"/{name}"})
    assert refused(answer) == {f"Parameters.{named}"}


async def test_a_header_may_have_a_secret_by_a_variable(application: Application, name: str) -> None:
    await new_api(application, name)
    headers = {"Authorization": "Bearer {{var:TOKEN}}", "X-Endpoint-Key": "{{ var:KEY }}", "X-Region": "eu"}
    made = await new_version(application, name, Parameters={"Url": "http://127.0.0.1:9", "Headers": headers})
    assert made["Parameters"]["Headers"] == headers


async def test_private_addresses_are_refused_unless_they_are_allowed(tmp_path: Path) -> None:
    async with running_application(tmp_path, PENSTOCK_ALLOW_PRIVATE_ADDRESSES="false") as application:
        await new_api(application, "inner")
        for host in ("127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "2130706433", "127.1"):
            answer = await post_version(application, "inner", Parameters={"Url": f"http://{host}:80/x"})
            assert refused(answer) == {"Parameters.Url"}, host
        await new_version(application, "inner", Parameters={"Url": "http://93.184.215.14/"})


async def test_a_version_changes_but_not_its_name(application: Application, name: str) -> None:
    await new_api(application, name)
    made = await new_version(application, name)
    address = f"{PATH}/{name}/v1"
    tag = (await application.reader.get(address)).headers["etag"]
    changed = await application.operator.put(address, json=made | {"IsActive": False}, headers={"If-Match": tag})
    assert (changed.status_code, changed.json()) == (200, made | {"IsActive": False})
    stale = await application.operator.put(address, json=made, headers={"If-Match": tag})
    assert conflict(stale) == (412, "stale")
    wrong = await application.operator.put(address, json=made | {"Version": "v2", "Key": None})
    assert refused(wrong) == {"Version"}


async def test_one_that_a_subscription_lists_by_itself_is_not_removed(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_version(application, name)
    await new_subscription(application, name, f"{name}/v1")
    assert conflict(await application.operator.delete(f"{PATH}/{name}/v1")) == (409, "in-use")
    assert (await application.admin.put(f"/apim/subscriptions/{name}", json={"Apis": [name]})).status_code == 200
    assert (await application.operator.delete(f"{PATH}/{name}/v1")).status_code == 200
