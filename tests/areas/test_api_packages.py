"""API packages: registered, installed, listed, removed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.api_packages import FICKLE, fickle_wheel
from tests.application import Application
from tests.areas.events import errors_of
from tests.areas.hosting import endpoint_body, register, running_shop
from tests.areas.waiting import until


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packages")


@pytest.fixture(scope="module")
async def shop(place: Path) -> AsyncIterator[Application]:
    async with running_shop(place) as running:
        yield running


async def test_a_package_becomes_ready_with_its_apis(shop: Application) -> None:
    package, installation = await register(shop, "penstock-api-sql")
    assert (package["Status"], package["PackageVersion"]) == (1, "1.0.0")
    assert installation["Digest"].startswith("sha256:")
    [api] = package["Apis"]
    assert (api["ApiName"], api["ApiVersion"], api["Identifier"]) == ("sql", "1.0.0", "api:sql@1.0.0")
    assert '"url"' in api["ConfigurationSchema"]
    assert api in (await shop.reader.get("/integrations/api")).json()
    for path in ("sql/1.0.0", "api:sql@1.0.0", "SQL"):
        assert (await shop.reader.get(f"/integrations/api/{path}")).json() == api
    assert (await shop.reader.get("/integrations/api/sql/2.0")).status_code == 404
    told = (await shop.reader.get("/agent/api/packages")).json()
    assert {"Id": package["Id"], "PackageName": "penstock-api-sql", "PackageVersion": "1.0.0"} in told


async def test_a_part_that_cannot_be_used_is_told_and_the_rest_can(shop: Application) -> None:
    package, installation = await register(shop, "acme-fickle", "1.0.0")
    assert [api["ApiName"] for api in package["Apis"]] == ["fickle"]
    assert installation["Problems"] == ["broken: AttributeError: module 'acme_fickle' has no attribute 'nothing'"]
    again = await shop.admin.post(
        "/integrations/packages", json={"PackageName": "Acme_Fickle", "PackageVersion": "1.0.0"}
    )
    assert again.status_code == 409


@pytest.mark.parametrize(("name", "reason"), [("no-such-package", "no-such-package"), ("acme-plain", "has no APIs")])
async def test_one_that_cannot_be_used_has_failed_and_says_why(shop: Application, name: str, reason: str) -> None:
    package, installation = await register(shop, name)
    assert (package["Status"], installation["Status"], package["Apis"]) == (2, 2, [])
    assert reason in installation["Message"]
    assert (await shop.admin.delete(f"/integrations/packages/{package['Id']}")).status_code == 200
    assert (await shop.reader.get(f"/integrations/packages/{package['Id']}")).status_code == 404


async def test_names_that_could_be_options_or_paths_are_refused(shop: Application) -> None:
    answer = await shop.admin.post("/integrations/packages", json={"PackageName": "--index"})
    assert (answer.status_code, set(errors_of(answer))) == (400, {"PackageName"})
    answer = await shop.admin.post("/integrations/packages", json={"PackageName": "a", "PackageVersion": "../1"})
    assert (answer.status_code, set(errors_of(answer))) == (400, {"PackageVersion"})


async def test_only_admins_register_packages(shop: Application) -> None:
    answer = await shop.operator.post("/integrations/packages", json={"PackageName": "acme-plain"})
    assert answer.status_code == 403


async def test_one_in_use_stays_until_another_brings_the_same_api(shop: Application, place: Path) -> None:
    fickle_wheel(place / "wheels", "3.0.0", FICKLE.replace('"1.0"', '"3"'))
    fickle_wheel(place / "wheels", "3.0.1", FICKLE.replace('"1.0"', '"3"'))
    first, _ = await register(shop, "acme-fickle", "3.0.0")
    body = endpoint_body("user-of-three", "fickle", {"colour": "red"}, "nowhere", ApiVersion="3")
    endpoint = (await shop.operator.post("/integrations/endpoint", json=body)).raise_for_status().json()
    path = f"/integrations/packages/{first['Id']}"
    assert "user-of-three" in errors_of(await shop.admin.delete(path))["id"]
    second, _ = await register(shop, "acme-fickle", "3.0.1")
    assert (await shop.reader.get("/integrations/api/fickle/3")).json()["PackageVersion"] == "3.0.1"
    assert (await shop.admin.delete(path)).status_code == 200
    assert (await shop.operator.delete(f"/integrations/endpoint/{endpoint['Id']}")).status_code == 200
    assert (await shop.admin.delete(f"/integrations/packages/{second['Id']}")).status_code == 200


async def test_a_document_registers_a_package_and_removes_it(shop: Application, place: Path) -> None:
    fickle_wheel(place / "wheels", "4.0.0", FICKLE.replace('"1.0"', '"4"'))
    document = {
        "apiVersion": "penstock/v1alpha1",
        "kind": "IntegrationApiPackage",
        "metadata": {"name": "acme-fickle"},
        "spec": {"version": "4.0.0"},
    }
    assert (await shop.apply(document)).status_code == 202

    async def ready() -> bool:
        return (await shop.reader.get("/integrations/api/fickle/4")).status_code == 200

    assert await until(ready)
    assert (await shop.apply(document)).status_code == 202
    document["metadata"] = {"name": "acme-fickle", "state": "absent"}
    assert (await shop.apply(document)).status_code == 202
    listed = (await shop.reader.get("/integrations/packages")).json()
    assert "acme-fickle" not in {each["PackageName"] for each in listed}
    wrong = {**document, "metadata": {"name": "--x"}}
    assert "metadata.name" in str((await shop.apply(wrong)).json()["errors"])
