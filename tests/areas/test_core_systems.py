"""Core systems over HTTP: saved, read without their secrets, applied by documents."""

import json
from pathlib import Path
from typing import Any

import pytest

from penstock.areas.coresystems.service import CoreSystemService
from tests.application import Application, running_application
from tests.areas.events import errors_of
from tests.areas.files import files_that_contain
from tests.areas.resource_suite import Entity, Listed, Removable, configured

PATH = "/integrations/coresystems"
MASK = "********"
SFTP = {"host": "files.example.com", "port": 22, "user": "orders", "pass": "hunter2-sftp"}


def system(name: str, **fields: Any) -> Entity:
    return {"Name": name, "Category": "storage", "Type": "sftp", "Variables": SFTP, **fields}


async def save(application: Application, name: str, **fields: Any) -> Entity:
    answer = await application.operator.put(PATH, json=system(name, **fields))
    assert answer.status_code == 200, answer.text
    found: Entity = answer.json()
    return found


async def variables(application: Application, name: str) -> dict[str, Any]:
    """With their secrets, as other areas get them."""
    known = await application.platform.container.get(CoreSystemService).known(name)
    assert known is not None
    return dict(known.variables)


class TestCoreSystems(Listed):
    path = PATH
    key = "Name"

    async def make(self, application: Application, name: str) -> Entity:
        return await save(application, name)


class TestRemoval(Removable):
    path = PATH
    key = "Name"
    make = TestCoreSystems.make

    async def remove(self, application: Application, entity: Entity) -> Any:
        return await application.operator.delete(PATH, params={"systemName": entity["Name"]})


async def test_secrets_are_masked_for_everybody_and_whole_for_those_that_use_them(
    application: Application, name: str
) -> None:
    shown = await save(application, name)
    assert shown["Variables"] == SFTP | {"pass": MASK}
    one = await application.admin.get(f"{PATH}/{name.upper()}")
    assert json.loads(one.json()["Variables"]) == shown["Variables"]
    assert one.headers["etag"]
    assert "hunter2-sftp" not in (await application.admin.get(PATH)).text
    assert await variables(application, name.upper()) == SFTP


async def test_what_looks_like_a_secret_is_one_and_a_reference_is_none(application: Application, name: str) -> None:
    given = {
        "secretAccessKey": "abc",
        "url": "https://u:pw@example.com/x",
        "endpoint": "https://example.com",
        "token": "{{var:TOKEN}}",
        "public_key": "ssh-rsa x",
        "secure": True,
    }
    shown = (await save(application, name, Category="crm", Type="http", Variables=given))["Variables"]
    assert shown == given | {"secretAccessKey": MASK, "url": MASK}


async def test_a_mask_keeps_the_secret_while_nothing_but_words_change(application: Application, name: str) -> None:
    shown = await save(application, name)
    await save(application, name, Title="Orders", Variables=shown["Variables"])
    assert await variables(application, name) == SFTP
    for changed in (
        {"Variables": shown["Variables"] | {"host": "evil.example.com"}},
        {"Variables": shown["Variables"] | {"proxy": "evil.example.com"}},
        {"Variables": shown["Variables"], "Type": "ftp"},
        {"Variables": shown["Variables"] | {"other_password": MASK}},
    ):
        answer = await application.operator.put(PATH, json=system(name, **changed))
        assert answer.status_code == 400
        assert errors_of(answer).keys() <= {"Variables.pass", "Variables.other_password"}
    assert await variables(application, name) == SFTP
    await save(application, name, Variables=SFTP | {"pass": "another"})
    assert (await variables(application, name))["pass"] == "another"


async def test_a_mask_keeps_nothing_while_an_address_with_a_password_changes(
    application: Application, name: str
) -> None:
    given = {"url": "https://u:pw@example.com/x", "token": "hunter2-token"}
    await save(application, name, Category="crm", Variables=given)
    for url in ("https://evil.example.com", "https://u:pw@evil.example.com"):
        changed = {"url": url, "token": MASK}
        answer = await application.operator.put(PATH, json=system(name, Category="crm", Variables=changed))
        assert set(errors_of(answer)) == {"Variables.token"}
    answer = await application.operator.put(PATH, json=system(name, Category="crm", Variables={"token": MASK}))
    assert set(errors_of(answer)) == {"Variables.token"}
    assert await variables(application, name) == given


async def test_storages_and_the_others_have_lists_of_their_own(application: Application, name: str) -> None:
    await save(application, name, Category="Storage", Description="Files")
    await save(application, f"{name}-crm", Category="crm", Title="The CRM", Variables=None)
    storages = (await application.reader.get(f"{PATH}/storages")).json()
    assert {"Name": name, "Description": "Files"} in storages
    cores = (await application.reader.get(f"{PATH}/core")).json()
    assert {"Name": f"{name}-crm", "Title": "The CRM", "Description": None, "Label": "The CRM"} in cores
    assert f"{name}-crm" not in {each["Name"] for each in storages}
    assert name not in {each["Name"] for each in cores}


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"Name": "not a name"}, {"Name"}),
        ({"Name": "storages"}, {"Name"}),
        ({"Type": None}, {"Type"}),
        ({"Title": "x" * 1025, "Type": " "}, {"Title", "Type"}),
        ({"Variables": {"host": ["a"], "user": {"a": 1}, "ok": None}}, {"Variables.host", "Variables.user"}),
        ({"Variables": {"": "x"}}, {"Variables"}),
        ({"Variables": {"host": "a\0b"}}, {"Variables.host"}),
        ({"Variables": {"pass": MASK}}, {"Variables.pass"}),
        ({"Colour": "red"}, {"Colour"}),
    ],
)
async def test_whatever_is_wrong_is_named_and_nothing_is_saved(
    application: Application, name: str, fields: dict[str, Any], wrong: set[str]
) -> None:
    answer = await application.operator.put(PATH, json=system(name, **fields))
    assert (answer.status_code, set(errors_of(answer))) == (400, wrong)
    assert (await application.reader.get(f"{PATH}/{name}")).status_code == 404


async def test_a_stale_etag_changes_nothing(application: Application, name: str) -> None:
    await save(application, name)
    stale = {"If-Match": '"stale"'}
    assert (await application.operator.put(PATH, json=system(name, Title="x"), headers=stale)).status_code == 412
    removal = await application.operator.delete(PATH, params={"systemName": name}, headers=stale)
    assert removal.status_code == 412
    assert (await application.operator.put(PATH, json=system(f"{name}-new"), headers=stale)).status_code == 412
    assert json.loads((await application.reader.get(f"{PATH}/{name}")).json()["Variables"])["host"] == SFTP["host"]


async def test_readers_cannot_save(application: Application, name: str) -> None:
    assert (await application.reader.put(PATH, json=system(name))).status_code == 403


async def test_a_document_makes_the_same_as_the_operation(application: Application, name: str) -> None:
    spec = {"category": "storage", "type": "sftp", "variables": SFTP}
    made = await configured(application, "CoreSystem", name, spec, PATH)
    assert made["Variables"] == SFTP | {"pass": MASK}
    document = {"apiVersion": "penstock/v1alpha1", "kind": "CoreSystem", "metadata": {"name": name}, "spec": spec}
    planned = await application.admin.post("/configuration/plan", json=json.dumps(document))
    assert planned.json()[0]["Action"] == "keep"
    assert "hunter2-sftp" not in planned.text
    document["spec"] = spec | {"type": None, "variables": {"pass": MASK}}
    answer = await application.apply(document)
    assert errors_of(answer).keys() == {"documents[0].spec.type"}


async def test_a_secret_is_in_no_file(tmp_path: Path, name: str) -> None:
    async with running_application(tmp_path) as application:
        await save(application, name)
        assert files_that_contain(tmp_path, "hunter2-sftp") == []
