"""Keys of subscriptions: renewed with an overlap, revoked, read, and stored so that no file has them."""

import os
from base64 import b64encode
from pathlib import Path

import pytest

from penstock.areas.apim.keys.renewal import KeyRenewals
from penstock.areas.apim.stored import API_SUBSCRIPTIONS, StoredSubscription
from penstock.server.platform import open_platform
from penstock.store.store import Store, decode
from tests.application import Application, running_application, settings_for
from tests.areas.files import files_that_contain
from tests.areas.published import conflict, new_api, new_subscription, post_subscription, refused
from tests.areas.resource_suite import FAR_AHEAD, LONG_AGO

PATH = "/apim/subscriptions"
MASK = "********"


async def stored(application: Application, name: str) -> StoredSubscription:
    document = await application.platform.container.get(Store).find(API_SUBSCRIPTIONS, "name", name)  # type: ignore[type-abstract]
    assert document is not None
    return decode(document.body, StoredSubscription)


async def prints(application: Application, name: str) -> tuple[int, bool]:
    """How many keys there are, and whether one of them ends."""
    found = await stored(application, name)
    return len(found.key_prints), found.overlap_until is not None


async def key_of(application: Application, name: str) -> str:
    answer = await application.admin.get(f"{PATH}/{name}/key")
    assert answer.status_code == 200, answer.text
    key: str = answer.json()
    return key


async def test_a_renewed_key_is_shown_and_the_one_before_holds_for_the_overlap(
    application: Application, name: str
) -> None:
    await new_api(application, name)
    first = (await new_subscription(application, name, name))["Key"]
    renewed = (await application.admin.post(f"{PATH}/{name}/key", json={"Overlap": "01:00:00"})).json()["Key"]
    assert renewed not in (first, MASK)
    assert await key_of(application, name) == renewed
    assert await prints(application, name) == (2, True)
    assert conflict(await post_subscription(application, f"{name}-b", name, Key=first)) == (409, "name-taken")


async def test_an_overlap_ends_when_it_is_told_to(application: Application, name: str) -> None:
    await new_api(application, name)
    first = (await new_subscription(application, name, name))["Key"]
    await application.admin.post(f"{PATH}/{name}/key", json={})
    assert (await application.admin.delete(f"{PATH}/{name}/key/previous")).status_code == 200
    assert await prints(application, name) == (1, False)
    await new_subscription(application, f"{name}-b", name, Key=first)


async def test_without_overlap_the_key_before_stops_at_once(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_subscription(application, name, name)
    given = f"chosen-by-hand-{name}"
    answer = await application.admin.post(f"{PATH}/{name}/key", json={"Overlap": "00:00:00", "Key": given})
    assert answer.json()["Key"] == given
    assert await prints(application, name) == (1, False)


async def test_revoked_keys_are_gone_until_a_new_one_is_made(application: Application, name: str) -> None:
    await new_api(application, name)
    await new_subscription(application, name, name)
    await application.admin.post(f"{PATH}/{name}/key", json={})
    assert (await application.admin.delete(f"{PATH}/{name}/key")).status_code == 200
    assert (await application.admin.get(f"{PATH}/{name}/key")).status_code == 404
    assert (await application.admin.get(f"{PATH}/{name}")).json()["Key"] is None
    kept = await application.admin.put(f"{PATH}/{name}", json={"Apis": [name], "Description": "still without"})
    assert kept.json()["Key"] is None
    renewed = (await application.admin.post(f"{PATH}/{name}/key", json={})).json()["Key"]
    assert await key_of(application, name) == renewed


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"Overlap": "91.00:00:00"}, "Overlap"),
        ({"Overlap": "-00:00:01"}, "Overlap"),
        ({"Overlap": "later"}, "Overlap"),
        ({"Key": "short"}, "Key"),
        ({"Key": MASK * 3 + " "}, "Key"),
        ({"Secret": "x"}, "Secret"),
    ],
)
async def test_a_renewal_that_cannot_be_is_refused(
    application: Application, name: str, body: dict[str, str], named: str
) -> None:
    await new_api(application, name)
    key = (await new_subscription(application, name, name))["Key"]
    assert refused(await application.admin.post(f"{PATH}/{name}/key", json=body)) == {named}
    assert await key_of(application, name) == key


async def test_keys_are_for_admins_and_each_reading_is_recorded(application: Application, name: str) -> None:
    await new_api(application, name)
    key = (await new_subscription(application, name, name))["Key"]
    for client in (application.reader, application.operator):
        assert (await client.get(f"{PATH}/{name}/key")).status_code == 403
        assert (await client.post(f"{PATH}/{name}/key", json={})).status_code == 403
    await key_of(application, name)
    query = {"entityId": str((await stored(application, name)).id), "fromDate": LONG_AGO, "toDate": FAR_AHEAD}
    events = (await application.admin.get("/events/store", params=query)).json()
    acts = sorted(event["EventType"] for event in events)
    assert acts == ["api_subscriptions.created", "api_subscriptions.key-revealed"]
    assert key not in str(events)


async def test_no_file_has_a_key_and_a_restart_loses_none(tmp_path: Path) -> None:
    async with running_application(tmp_path) as application:
        await new_api(application, "orders")
        key = (await new_subscription(application, "shop", "orders", Key="a-key-that-stands-in-no-file"))["Key"]
        assert files_that_contain(tmp_path, key) == []
    async with running_application(tmp_path) as application:
        assert await key_of(application, "shop") == key


async def test_after_a_key_rotation_keys_are_sealed_and_told_apart_by_the_new_one(tmp_path: Path) -> None:
    old, new = (b64encode(os.urandom(32)).decode() for _ in range(2))
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=old) as application:
        await new_api(application, "orders")
        key = (await new_subscription(application, "shop", "orders"))["Key"]
        tag = (await application.reader.get(f"{PATH}/shop")).headers["etag"]
    rotated = settings_for(tmp_path, PENSTOCK_SECRET_KEY=new, PENSTOCK_SECRET_KEY_PREVIOUS=old)
    async with open_platform(rotated) as platform:
        await platform.container.get(KeyRenewals).renew()
    async with running_application(tmp_path, PENSTOCK_SECRET_KEY=new) as application:
        assert await key_of(application, "shop") == key
        assert (await application.reader.get(f"{PATH}/shop")).headers["etag"] == tag
        assert conflict(await post_subscription(application, "other", "orders", Key=key)) == (409, "name-taken")
