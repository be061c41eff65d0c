"""Catalogs: packages that bring kinds of event sources and components."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from tests.application import Application, running_application
from tests.areas.events import errors_of, event, make_channel, new_name, publish, routed, subscribe
from tests.areas.resource_suite import Entity
from tests.areas.triggers import make_trigger, remove_trigger
from tests.areas.waiting import until
from tests.wheel import connector_wheel, wheel


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    connector_wheel(folder)
    connector_wheel(folder, version="2.0.0")
    wheel(folder, "plain-package", "1.0", {"plain_package.py": ""})
    return folder


@pytest.fixture(scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> AsyncIterator[Application]:
    """An application that finds packages in a folder and nowhere else."""
    settings = {"PENSTOCK_PACKAGE_INDEX": "none", "PENSTOCK_PACKAGE_FOLDER": str(wheels)}
    async with running_application(tmp_path_factory.mktemp("shop"), **settings) as running:
        yield running


async def register(
    application: Application, family: str, name: str, version: str | None = None
) -> tuple[Entity, Entity]:
    """Registers a catalog; it and its installation, once that is over."""
    path = f"/eventing/{family}Catalog"
    answer = await application.admin.post(path, json={"CatalogName": name, "CatalogVersion": version})
    assert (answer.status_code, answer.json()["Status"]) == (200, 0), answer.text
    id = answer.json()["Id"]

    async def over() -> Entity | None:
        found: Entity = (await application.reader.get(f"{path}/{id}/installation")).json()
        return found if found["Status"] != 0 else None

    installation = await until(over)
    assert installation is not None
    return (await application.reader.get(f"{path}/{id}")).json(), installation


async def remove(application: Application, family: str, catalog: Entity) -> None:
    answer = await application.admin.delete(f"/eventing/{family}Catalog/{catalog['Id']}")
    assert answer.status_code == 200, answer.text


async def test_what_penstock_itself_brings_is_a_catalog_too(application: Application) -> None:
    catalogs = (await application.reader.get("/eventing/sourceCatalog")).json()
    own = next(each for each in catalogs if each["CatalogName"] == "penstock")
    assert own["Status"] == 1
    kinds = {each["Name"]: each for each in own["EventSources"]}
    assert {"timer", "webhook"} <= kinds.keys()
    assert kinds["timer"]["Identifier"] == "source:timer@1.0.0"
    for id in ("timer", "source:timer@1.0.0"):
        assert (await application.reader.get(f"/eventing/sources/{id}")).json() == kinds["timer"]
    assert (await application.reader.get(f"/eventing/sourceCatalog/{own['Id']}")).json() == own
    answer = await application.admin.delete(f"/eventing/sourceCatalog/{own['Id']}")
    assert "part of this installation" in errors_of(answer)["id"]


async def test_components_and_endpoints_are_listed_with_their_schemas(application: Application) -> None:
    found = {each["Identifier"]: each for each in (await application.reader.get("/eventing/component")).json()}
    assert {"component:filter@1.0.0", "endpoint:http@1.0.0"} <= found.keys()
    schema = msgspec.json.decode(found["endpoint:http@1.0.0"]["ConfigurationSchema"])
    assert "url" in schema["properties"]
    one = await application.reader.get("/eventing/component/component:filter@1.0.0")
    assert one.json() == found["component:filter@1.0.0"]
    catalogs = (await application.reader.get("/eventing/componentCatalog")).json()
    assert found["component:filter@1.0.0"] in catalogs[-1]["Components"]


@pytest.mark.parametrize(
    "path",
    [
        "/eventing/sources/no-such",
        "/eventing/component/no-such",
        "/eventing/sourceCatalog/0190f6a0-0000-7000-8000-000000000000",
        "/eventing/componentCatalog/0190f6a0-0000-7000-8000-000000000000",
    ],
)
async def test_what_is_in_no_catalog_is_not_found(application: Application, path: str) -> None:
    assert (await application.reader.get(path)).status_code == 404


async def test_an_unknown_package_fails_with_the_reason(shop: Application) -> None:
    catalog, installation = await register(shop, "source", "no-such-package", "1.0")
    assert (catalog["Status"], catalog["EventSources"]) == (2, [])
    assert "no-such-package" in installation["Message"]
    assert "not found" in installation["Message"]
    await remove(shop, "source", catalog)


async def test_without_a_network_a_package_fails_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    async with running_application(tmp_path, PENSTOCK_PACKAGE_INDEX="http://127.0.0.1:1/simple") as offline:
        _, installation = await register(offline, "source", "acme-connectors")
    assert installation["Status"] == 2
    assert "Connection refused" in installation["Message"]


async def test_a_package_without_kinds_fails_with_the_reason(shop: Application) -> None:
    catalog, installation = await register(shop, "component", "plain-package")
    assert catalog["Status"] == 2
    assert installation["Message"] == "plain-package 1.0 has no components"
    await remove(shop, "component", catalog)


@pytest.mark.parametrize("name", ["", "--index-url=http://evil", "../../etc", "a b"])
async def test_what_is_no_name_of_a_package_is_refused(shop: Application, name: str) -> None:
    answer = await shop.admin.post("/eventing/sourceCatalog", json={"CatalogName": name})
    assert errors_of(answer).keys() == {"CatalogName"}


async def test_catalogs_are_an_admins_to_change(shop: Application) -> None:
    assert (await shop.operator.post("/eventing/sourceCatalog", json={"CatalogName": "x"})).status_code == 403


async def test_a_package_brings_event_sources_that_run_in_a_process_of_their_own(shop: Application) -> None:
    catalog, installation = await register(shop, "source", "acme-connectors", "1.0.0")
    assert catalog["Status"] == 1
    assert {each["Name"] for each in catalog["EventSources"]} == {"acme-count", "acme-tick"}
    assert installation["Problems"] == ["broken: ModuleNotFoundError: No module named 'acme_connectors.nothing'"]
    channel = await make_channel(shop)
    id = await make_trigger(shop, "acme-count", channel, step=2)
    [first, *_] = await routed(shop, channel, 1)
    assert (first["type"], first["data"]["Count"]) == ("acme.count", 2)
    assert [name for name in first["data"]["Environment"] if name.startswith("PENSTOCK")] == []
    in_use = await shop.admin.delete(f"/eventing/sourceCatalog/{catalog['Id']}")
    assert id in errors_of(in_use)["id"]
    await remove_trigger(shop, id)
    await remove(shop, "source", catalog)
    answer = await shop.operator.post("/api/EventHub/Trigger", json={"TypeName": "acme-count"})
    assert "TypeName" in errors_of(answer)


async def test_the_configuration_of_a_packages_kind_is_checked_by_its_schema(shop: Application) -> None:
    catalog, _ = await register(shop, "source", "acme-connectors", "1.0.0")
    body = {"TypeName": "acme-count", "Configuration": '{"step": 0, "fail": "no"}'}
    found = errors_of(await shop.operator.post("/api/EventHub/Trigger", json=body))
    await remove(shop, "source", catalog)
    assert found.keys() == {"Configuration.step", "Configuration.fail"}


async def test_a_listening_source_whose_process_dies_reads_on_in_the_next_one(shop: Application) -> None:
    catalog, _ = await register(shop, "source", "acme-connectors", "1.0.0")
    channel = await make_channel(shop)
    answer = await shop.operator.post("/api/EventHub/Trigger", json={"TypeName": "acme-tick", "TargetChannel": channel})
    events = await routed(shop, channel, 6)
    await remove_trigger(shop, answer.json())
    await remove(shop, "source", catalog)
    assert [each["data"] for each in events[:6]] == [1, 2, 3, 4, 5, 6]


async def test_two_versions_of_a_package_live_side_by_side(shop: Application) -> None:
    old, _ = await register(shop, "source", "acme-connectors", "1.0.0")
    new, _ = await register(shop, "source", "acme-connectors")
    assert new["CatalogVersion"] == "2.0.0"
    made = []
    for version in ("1.0", None):
        body = {"Name": new_name(), "EventSourceType": "acme-count", "EventSourceVersion": version}
        made.append((await shop.operator.post("/eventing/instances", json=body)).json())
    assert [each["EventSourceVersion"] for each in made] == ["1.0.0", "2.0.0"]
    for each in made:
        await shop.operator.delete(f"/eventing/instances/{each['Id']}")
    await remove(shop, "source", old)
    await remove(shop, "source", new)


async def test_a_package_registered_again_right_after_its_removal_is_there_when_it_is_ready(shop: Application) -> None:
    for _ in range(3):
        catalog, installation = await register(shop, "source", "acme-connectors", "1.0.0")
        assert catalog["Status"] == 1, installation
        trigger = await make_trigger(shop, "acme-count", await make_channel(shop), step=2)
        await remove_trigger(shop, trigger)
        await remove(shop, "source", catalog)


async def test_registering_a_package_twice_at_once_installs_it_for_both(shop: Application) -> None:
    registered = [register(shop, family, "acme-connectors") for family in ("source", "component")]
    [sources, components] = [catalog for catalog, _ in await asyncio.gather(*registered)]
    assert (sources["Status"], components["Status"]) == (1, 1)
    await remove(shop, "source", sources)
    await remove(shop, "component", components)


async def test_the_kinds_of_one_platform_stay_known_when_another_one_starts_beside_it(
    shop: Application, tmp_path: Path
) -> None:
    catalog, _ = await register(shop, "source", "acme-connectors", "1.0.0")
    async with running_application(tmp_path) as other:
        await other.reader.get("/eventing/sourceCatalog")
        trigger = await make_trigger(shop, "acme-count", await make_channel(shop), step=2)
    await remove_trigger(shop, trigger)
    await remove(shop, "source", catalog)


async def test_a_package_brings_components_for_channels(shop: Application) -> None:
    catalog, _ = await register(shop, "component", "acme-connectors", "1.0.0")
    assert [each["Identifier"] for each in catalog["Components"]] == ["component:acme-capitals@1.0.0"]
    name = new_name()
    channel = await make_channel(
        shop,
        Components=[{"Type": "acme-capitals", "Version": "1.0.0", "Position": 0}],
        Endpoints=[{"Type": "stream", "Version": "1.0.0", "Configuration": f'{{"name": "{name}"}}', "Position": 0}],
    )
    await subscribe(shop, channel, EventType=channel)
    assert (await publish(shop, event(channel, data="quiet"))).status_code == 200

    async def delivered() -> list[Entity]:
        answer = await shop.reader.get(f"/eventing/streams/events-{name}/messages")
        return answer.json() if answer.status_code == 200 else []

    [message] = await until(delivered)
    assert msgspec.json.decode(b64decode(message["Data"]))["data"] == "QUIET"
    await remove(shop, "component", catalog)
