"""What holds for every resource of the API. A resource's test class takes the parts that it has."""

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.application import Application

Entity = dict[str, Any]

LONG_AGO = "2020-01-01T00:00:00Z"
FAR_AHEAD = "2100-01-01T00:00:00Z"


class Listed:
    """A resource that can be listed.

    path: of the list. key: the field that tells entities apart.
    """

    path: str
    key = "Id"

    async def make(self, application: Application, name: str) -> Entity:
        """A new entity as the list shows it."""
        raise NotImplementedError

    async def find(self, application: Application, key: Any) -> Entity | None:
        listed = (await application.admin.get(self.path)).raise_for_status().json()
        return next((entity for entity in listed if entity[self.key] == key), None)

    async def test_a_new_one_is_in_the_list(self, application: Application) -> None:
        made = await self.make(application, new_name())
        assert await self.find(application, made[self.key]) == made

    async def test_every_field_is_there_even_when_empty(self, application: Application) -> None:
        made = await self.make(application, new_name())
        document = (await application.anonymous.get("/openapi.json")).json()
        answer = document["paths"][self.path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        component = document["components"]["schemas"][answer["items"]["$ref"].rsplit("/", 1)[1]]
        assert set(made) == set(component["properties"])

    async def test_a_stranger_sees_nothing(self, application: Application) -> None:
        answer = await application.anonymous.get(self.path)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


class Readable(Listed):
    """A resource whose entities are read one by one."""

    def address(self, key: Any) -> str:
        return f"{self.path}/{key}"

    unknown = str(uuid4())

    async def test_one_reads_as_it_is_listed(self, application: Application) -> None:
        made = await self.make(application, new_name())
        answer = await application.reader.get(self.address(made[self.key]))
        assert (answer.status_code, answer.json()) == (200, made)

    async def test_an_unknown_one_is_not_found(self, application: Application) -> None:
        answer = await application.reader.get(self.address(self.unknown))
        assert (answer.status_code, answer.json()["code"]) == (404, "not-found")


class Changeable(Readable):
    """A resource whose entities are changed by PUT, whole, with their ETag."""

    async def put(self, application: Application, entity: Entity, **headers: str) -> httpx.Response:
        return await application.admin.put(self.path, json=entity, headers=headers)

    def altered(self, entity: Entity) -> Entity:
        """The entity with a field changed."""
        raise NotImplementedError

    async def test_a_change_gives_a_new_etag_and_keeps_who_made_it(self, application: Application) -> None:
        made = await self.make(application, new_name())
        changed = (await self.put(application, self.altered(made))).raise_for_status().json()
        assert changed["ETag"] != made["ETag"]
        assert (changed["Id"], changed["CreatedDate"]) == (made["Id"], made["CreatedDate"])
        assert changed["UpdatedBy"] == "admin"

    @pytest.mark.parametrize("place", ["header", "body"])
    async def test_a_stale_etag_changes_nothing(self, application: Application, place: str) -> None:
        made = await self.make(application, new_name())
        wanted = self.altered(made) | {"ETag": "stale" if place == "body" else None}
        headers = {"If-Match": '"stale"'} if place == "header" else {}
        answer = await self.put(application, wanted, **headers)
        assert (answer.status_code, answer.json()["code"]) == (412, "stale")
        assert await self.find(application, made[self.key]) == made

    async def test_what_is_unknown_cannot_be_changed(self, application: Application) -> None:
        made = await self.make(application, new_name())
        answer = await self.put(application, made | {"Id": self.unknown, "ETag": None})
        assert answer.status_code == 404

    async def test_an_unknown_field_is_refused_by_name(self, application: Application) -> None:
        made = await self.make(application, new_name())
        answer = await self.put(application, made | {"Colour": "red", "Taste": "sour"})
        assert answer.status_code == 400
        assert {error["field"] for error in answer.json()["errors"]} == {"Colour", "Taste"}


class Removable(Listed):
    """A resource whose entities can be removed."""

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await application.admin.delete(f"{self.path}/{entity[self.key]}")

    async def test_a_removed_one_is_gone(self, application: Application) -> None:
        made = await self.make(application, new_name())
        assert (await self.remove(application, made)).is_success
        assert await self.find(application, made[self.key]) is None

    async def test_it_cannot_be_removed_twice(self, application: Application) -> None:
        made = await self.make(application, new_name())
        assert (await self.remove(application, made)).is_success
        assert (await self.remove(application, made)).status_code == 404


class Audited(Removable):
    """A resource with ids, whose changes are entity events."""

    async def test_making_and_removing_it_is_recorded(self, application: Application) -> None:
        made = await self.make(application, new_name())
        assert (await self.remove(application, made)).is_success
        query = {"entityId": made["Id"], "fromDate": LONG_AGO, "toDate": FAR_AHEAD}
        events = (await application.admin.get("/events/store", params=query)).raise_for_status().json()
        acts = [event["EventType"].rsplit(".", 1)[1] for event in events]
        assert acts[-1] == "created"
        assert acts.count("deleted") == 1


def new_name() -> str:
    return f"suite-{uuid4().hex[:12]}"


async def configured(application: Application, kind: str, name: str, spec: Entity, path: str) -> Entity:
    """Applies one document; the object as the list at `path` shows it."""
    document = {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": {"name": name}, "spec": spec}
    (await application.apply(document)).raise_for_status()
    listed = (await application.admin.get(path)).raise_for_status().json()
    return next(entity for entity in listed if entity["Name"] == name)


async def unconfigured(application: Application, kind: str, name: str) -> httpx.Response:
    """Removes one object by its document; 404 when there is none, as other removals say it."""
    metadata = {"name": name, "state": "absent"}
    document = {"apiVersion": "penstock/v1alpha1", "kind": kind, "metadata": metadata}
    planned = await application.admin.post("/configuration/plan", json=_text(document))
    if planned.json()[0]["Action"] == "keep":
        return httpx.Response(404)
    return await application.apply(document)


def _text(document: Entity) -> str:
    return httpx.Request("PUT", "http://x", json=document).content.decode()
