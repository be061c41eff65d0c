"""Subscriptions over HTTP: who may call which APIs, and what is refused."""

from typing import Any

import pytest

from tests.application import Application
from tests.areas.published import conflict, new_api, new_subscription, new_version, post_subscription, refused
from tests.areas.resource_suite import Entity, Listed, Removable

PATH = "/apim/subscriptions"
MASK = "********"


class TestSubscriptions(Listed):
    path = PATH
    key = "Name"

    async def make(self, application: Application, name: str) -> Entity:
        await new_api(application, name)
        await new_subscription(application, name, name)
        listed = (await application.reader.get(PATH)).json()
        return next(each for each in listed if each["Name"] == name)


class TestRemoval(Removable):
    path = PATH
    key = "Name"
    make = TestSubscriptions.make


async def test_it_is_shown_without_its_key(application: Application, name: str) -> None:
    await new_api(application, name)
    parameters = {"RateLimit": {"Calls": 10, "Period": "00:00:01"}, "Quota": {"Calls": 1000, "Period": "month"}}
    made = await new_subscription(application, name, name, Parameters=parameters, AdditionalHeaders={"X-Team": "a"})
    assert made["Key"] not in ("", MASK)
    one = (await application.reader.get(f"{PATH}/{name.upper()}")).json()
    assert one == made | {"Key": MASK}
    listed = next(each for each in (await application.reader.get(PATH)).json() if each["Name"] == name)
    assert listed["Key"] == MASK
    assert listed["Parameters"] == (
        '{"RateLimit":{"Calls":10,"Period":"00:00:01"},"Quota":{"Calls":1000,"Period":"month"}}'
    )


async def test_what_it_lists_must_exist(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_version(application, name)
    answer = await post_subscription(application, name, name, f"{name}/v1", f"{name}/v2", "nothing")
    assert refused(answer) == {"Apis[2]", "Apis[3]"}
    await new_subscription(application, name, name.upper(), f"{name}/V1")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"Apis": []}, "Apis"),
        ({"Type": "password"}, "Type"),
        ({"Type": "none"}, "Type"),
        ({"Key": "short"}, "Key"),
        ({"Key": "with a blank in the middle"}, "Key"),
        ({"Key": "x" * 257}, "Key"),
        ({"Type": "oidc", "Parameters": {"Issuer": "https://a.example", "Audience": "b"}, "Key": "k" * 20}, "Key"),
        ({"Type": "basic"}, "Parameters.UserName"),
        ({"Type": "basic", "Parameters": {"UserName": "a:b"}}, "Parameters.UserName"),
        ({"Type": "oidc", "Parameters": {"Issuer": "login", "Audience": "a"}}, "Parameters.Issuer"),
        ({"Type": "oidc", "Parameters": {"Issuer": "https://u:p@a.example", "Audience": "a"}}, "Parameters.Issuer"),
        ({"Type": "oidc", "Parameters": {"Issuer": "https://a.example"}}, "Parameters.Audience"),
        (
            {"Type": "oidc", "Parameters": {"Issuer": "https://a.example", "Audience": "a", "Claim": "b"}},
            "Parameters.Claim",
        ),
        ({"Parameters": {"RateLimit": {"Calls": 0, "Period": "00:00:01"}}}, "Parameters.RateLimit.Calls"),
        ({"Parameters": {"RateLimit": {"Calls": 10**10, "Period": "00:00:01"}}}, "Parameters.RateLimit.Calls"),
        ({"Parameters": {"RateLimit": {"Calls": 1, "Period": "00:00:00.5"}}}, "Parameters.RateLimit.Period"),
        ({"Parameters": {"RateLimit": {"Calls": 1, "Period": "2.00:00:00"}}}, "Parameters.RateLimit.Period"),
        ({"Parameters": {"Quota": {"Calls": 1, "Period": "decade"}}}, "Parameters.Quota.Period"),
        ({"Parameters": {"Quota": {"Calls": 1, "Period": "00:30:00"}}}, "Parameters.Quota.Period"),
        ({"Parameters": {"UserName": "bob"}}, "Parameters.UserName"),
        ({"AdditionalHeaders": {"X Y": "a"}}, "AdditionalHeaders.X Y"),
        ({"AdditionalHeaders": {"X-Number": 1}}, "AdditionalHeaders.X-Number"),
        ({"AdditionalHeaders": {"X-Api-Key": "abc"}}, "AdditionalHeaders.X-Api-Key"),
        ({"AdditionalHeaders": {"x-envoy-retry-on": "5xx"}}, "AdditionalHeaders.x-envoy-retry-on"),
        ({"Variables": {"A": None}}, "Variables.A"),
    ],
)
async def test_what_is_wrong_is_refused_by_name(
    application: Application, name: str, fields: dict[str, Any], named: str
) -> None:
    await new_api(application, name)
    answer = await application.admin.post(PATH, json={"Name": name, "Apis": [name], **fields})
    assert refused(answer) == {named}
    assert (await application.reader.get(f"{PATH}/{name}")).status_code == 404


async def test_a_key_belongs_to_one_subscription(application: Application, name: str) -> None:
    await new_api(application, name)
    key = f"given-{name}-for-the-first"
    assert (await new_subscription(application, f"{name}-a", name, Key=key))["Key"] == key
    taken = await post_subscription(application, f"{name}-b", name, Key=key)
    assert conflict(taken) == (409, "name-taken")
    assert key not in taken.text
    await new_subscription(application, f"{name}-b", name)
    changed = await application.admin.put(f"{PATH}/{name}-b", json={"Apis": [name], "Key": key})
    assert conflict(changed) == (409, "name-taken")


async def test_a_user_name_belongs_to_one_subscription_and_a_password_to_any(
    application: Application, name: str
) -> None:
    await new_api(application, name)
    password = f"the-same-for-{name}"
    for user in ("ann", "bob"):
        parameters = {"UserName": f"{user}-{name}"}
        await new_subscription(application, f"{name}-{user}", name, Type="basic", Parameters=parameters, Key=password)
    again = await post_subscription(
        application, f"{name}-c", name, Type="basic", Parameters={"UserName": f"ann-{name}"}
    )
    assert conflict(again) == (409, "name-taken")


async def test_a_change_keeps_the_key_and_a_key_given_replaces_it(application: Application, name: str) -> None:
    await new_api(application, name)
    key = (await new_subscription(application, name, name))["Key"]
    address = f"{PATH}/{name}"
    for given in (None, MASK):
        answer = await application.admin.put(address, json={"Apis": [name], "Description": str(given), "Key": given})
        assert (answer.status_code, answer.json()["Key"]) == (200, MASK)
        assert (await application.admin.get(f"{address}/key")).json() == key
    other = f"another-key-of-{name}"
    answer = await application.admin.put(address, json={"Apis": [name], "Key": other})
    assert (answer.status_code, answer.json()["Key"]) == (200, other)
    assert (await application.admin.get(f"{address}/key")).json() == other


async def test_a_change_of_what_was_changed_meanwhile_is_stale(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_subscription(application, name, name)
    tag = (await application.reader.get(f"{PATH}/{name}")).headers["etag"]
    body = {"Apis": [name], "Description": "new"}
    for expected in (200, 412):
        answer = await application.admin.put(f"{PATH}/{name}", json=body, headers={"If-Match": tag})
        assert answer.status_code == expected
    assert (await application.admin.delete(f"{PATH}/{name}", headers={"If-Match": tag})).status_code == 412


async def test_an_oidc_subscription_has_no_key(application: Application, name: str) -> None:
    await new_api(application, name)
    parameters = {"Issuer": "https://login.example.com/", "Audience": name, "Claim": "client_id", "Value": "shop"}
    made = await new_subscription(application, name, name, Type="oidc", Parameters=parameters)
    assert made["Key"] is None
    assert (await application.admin.get(f"{PATH}/{name}/key")).status_code == 404
    assert refused(await application.admin.post(f"{PATH}/{name}/key", json={})) == {""}
    changed = await application.admin.put(f"{PATH}/{name}", json={"Apis": [name], "Type": "apikey"})
    assert changed.json()["Key"] not in (None, MASK)
