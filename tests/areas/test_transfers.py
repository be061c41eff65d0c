"""File transfers over HTTP: saved, shown, started and stopped, whatever agents do."""

from typing import Any
from uuid import UUID

import pytest

from tests.application import Application
from tests.areas.events import errors_of
from tests.areas.resource_suite import Entity, configured

PATH = "/integrations/mfts"
SFTP = {"host": "files.example.com", "user": "orders", "pass": "hunter2-mft", "accept_any_host_key": True}


async def storage(application: Application, name: str, **fields: Any) -> str:
    system = {"Name": name, "Category": "storage", "Type": "sftp", "Variables": SFTP, **fields}
    answer = await application.operator.put("/integrations/coresystems", json=system)
    assert answer.status_code == 200, answer.text
    return name


@pytest.fixture
async def store(application: Application, name: str) -> str:
    """The name of a storage of this test's own."""
    return await storage(application, f"store-{name}")


def mft(name: str, store: str, **fields: Any) -> Entity:
    sides = {"Source": {"Name": store, "Path": "/in"}, "Destination": {"Name": store, "Path": "/out"}}
    return {"Name": name, "Command": "copy", **sides, **fields}


async def save(application: Application, wanted: Entity) -> Entity:
    answer = await application.operator.put(PATH, json=wanted)
    assert answer.status_code == 201, answer.text
    found: Entity = answer.json()
    return found


async def test_a_transfer_is_saved_as_a_stopped_one(application: Application, name: str, store: str) -> None:
    saved = await save(application, mft(name, store, Filters="*.csv", Args="--transfers 8", Labels="a, b"))
    assert saved["RequestedStatus"] == 0
    assert saved["Version"] == "1"
    assert saved == (await application.reader.get(f"{PATH}/{name.upper()}")).json()
    [listed] = [each for each in (await application.reader.get(PATH)).json() if each["Name"] == name]
    assert listed["Labels"] == ["a", "b"]
    assert listed["Source"]["System"]["Variables"]["pass"] == "********"


async def test_what_runs_makes_a_new_version_and_words_do_not(application: Application, name: str, store: str) -> None:
    await save(application, mft(name, store))
    assert (await save(application, mft(name, store, Labels="new")))["Version"] == "1"
    assert (await save(application, mft(name, store, Filters="*.csv")))["Version"] == "2"


async def test_details_show_the_core_systems_without_secrets(application: Application, name: str, store: str) -> None:
    await save(application, mft(name, store))
    answer = await application.reader.get(f"{PATH}/{name}/details")
    assert answer.json()["Destination"]["System"]["Name"] == store
    assert "hunter2" not in answer.text


async def test_start_and_stop_are_requests_that_can_be_repeated(
    application: Application, name: str, store: str
) -> None:
    await save(application, mft(name, store, Schedule="0 0 3 * * ?"))
    for act, requested in (("start", 1), ("start", 1), ("stop", 0), ("stop", 0)):
        answer = await application.operator.post(f"{PATH}/{act}", params={"mftName": name})
        assert (answer.status_code, answer.content) == (202, b"")
        assert (await application.reader.get(f"{PATH}/{name}")).json()["RequestedStatus"] == requested


async def test_a_run_ordered_now_starts_the_transfer(application: Application, name: str, store: str) -> None:
    await save(application, mft(name, store))
    answer = await application.operator.post(f"{PATH}/{name}/run", params={"force": "true"})
    assert answer.status_code == 202
    UUID(answer.json()["Order"])
    assert (await application.reader.get(f"{PATH}/{name}")).json()["RequestedStatus"] == 1


@pytest.mark.parametrize(
    ("fields", "field", "told"),
    [
        ({"Name": "no name"}, "Name", "must"),
        ({"Name": "history"}, "Name", "addresses of lists"),
        ({"Command": "erase"}, "Command", "copy, sync, move"),
        ({"Command": None}, "Command", "copy, sync, move"),
        ({"Schedule": "every day"}, "Schedule", "must have 6 fields"),
        ({"Source": None}, "Source.Name", "is required"),
        ({"Source": {"Name": "nowhere"}}, "Source.Name", "does not exist"),
        ({"Args": "--config /etc/x"}, "Args", "not allowed"),
        ({"Filters": "{a"}, "Filters", "line 1"),
        ({"AdditionalPackages": "x"}, "AdditionalPackages", "take no packages"),
        ({"Requirements": [{"Value": "x"}]}, "Requirements[0].Identifier", "is required"),
        ({"Variables": {"x": ["y"]}}, "Variables.x", "must be a text"),
        ({"Colour": "red"}, "Colour", "not a known field"),
    ],
)
async def test_whatever_is_wrong_is_named_and_nothing_is_saved(
    application: Application, name: str, store: str, fields: Entity, field: str, told: str
) -> None:
    answer = await application.operator.put(PATH, json=mft(name, store, **fields))
    assert answer.status_code == 400
    assert told in errors_of(answer)[field]
    assert (await application.reader.get(f"{PATH}/{name}")).status_code == 404


async def test_a_core_system_that_is_no_storage_is_refused(application: Application, name: str) -> None:
    other = await storage(application, f"crm-{name}", Category="crm")
    answer = await application.operator.put(PATH, json=mft(name, other))
    assert "no storage" in errors_of(answer)["Source.Name"]


async def test_an_unknown_transfer_is_not_found(application: Application, name: str) -> None:
    for path in ("", "/details", "/status", "/progress", "/progress/live", "/ticks"):
        assert (await application.reader.get(f"{PATH}/{name}{path}")).status_code == 404
    for act in ("start", "stop"):
        assert (await application.operator.post(f"{PATH}/{act}", params={"mftName": name})).status_code == 404
    assert (await application.operator.delete(f"{PATH}/{name}")).status_code == 404
    assert (await application.reader.get(f"{PATH}/{name}/history/{UUID(int=0)}")).status_code == 404


async def test_a_stale_etag_changes_nothing(application: Application, name: str, store: str) -> None:
    await save(application, mft(name, store))
    stale = {"If-Match": '"stale"'}
    assert (await application.operator.put(PATH, json=mft(name, store, Labels="x"), headers=stale)).status_code == 412
    assert (await application.operator.delete(f"{PATH}/{name}", headers=stale)).status_code == 412
    assert (await application.reader.get(f"{PATH}/{name}")).json()["Labels"] is None


async def test_readers_change_nothing(application: Application, name: str, store: str) -> None:
    assert (await application.reader.put(PATH, json=mft(name, store))).status_code == 403
    assert (await application.reader.post(f"{PATH}/start", params={"mftName": name})).status_code == 403


async def test_a_transfer_without_an_agent_says_what_it_needs(application: Application, name: str, store: str) -> None:
    await save(application, mft(name, store, Requirements=[{"Identifier": "Site", "Value": name}], RequestedStatus=1))
    [listed] = [each for each in (await application.reader.get(PATH)).json() if each["Name"] == name]
    assert listed["Status"] == f"No matching agent: needs Site={name}"
    assert (await application.reader.get(f"{PATH}/{name}/status")).json() == []


async def test_a_deleted_transfer_is_gone(application: Application, name: str, store: str) -> None:
    await save(application, mft(name, store))
    assert (await application.operator.delete(f"{PATH}/{name}")).status_code == 202
    assert (await application.reader.get(f"{PATH}/{name}")).status_code == 404


async def test_a_document_makes_the_same_as_the_operation(application: Application, name: str, store: str) -> None:
    spec = {
        "command": "sync",
        "source": {"name": store, "path": "/in"},
        "destination": {"name": store, "path": "/out"},
        "schedule": "0 0 3 * * ?",
        "requirements": {"Site": name},
    }
    made = await configured(application, "MftIntegration", name, spec, PATH)
    assert (made["Command"], made["RequestedStatus"], made["Schedule"]) == ("sync", 1, "0 0 3 * * ?")


def document(name: str, spec: Entity, kind: str = "MftIntegration") -> Entity:
    return {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}


async def test_an_error_of_a_document_names_its_line(application: Application, name: str, store: str) -> None:
    sides = {"source": {"name": store, "path": "x" * 2000}, "destination": {"name": store}}
    answer = await application.apply(document(name, {"command": "copy", **sides, "args": "--nope"}))
    assert errors_of(answer).keys() == {"documents[0].spec.source.path", "documents[0].spec.args"}


async def test_the_same_text_may_make_the_storage(application: Application, name: str, store: str) -> None:
    spec = {"command": "copy", "source": {"name": store}, "destination": {"name": f"new-{name}"}}
    refused = await application.apply(document(name, spec))
    assert errors_of(refused).keys() == {"documents[0].spec.destination.name"}
    system = {"category": "storage", "type": "sftp", "variables": SFTP}
    made = await application.apply(document(name, spec), document(f"new-{name}", system, "CoreSystem"))
    assert made.status_code == 202, made.text
