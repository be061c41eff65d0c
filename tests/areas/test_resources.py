"""The suite of every resource, run over each of them."""

from typing import Any
from uuid import uuid4

import httpx

from tests.application import Application
from tests.areas.resource_suite import (
    Audited,
    Changeable,
    Entity,
    Listed,
    Readable,
    Removable,
    configured,
    unconfigured,
)


class TestVariables(Readable, Removable):
    path = "/variables"
    key = "Name"
    unknown = "no-such-variable"

    async def make(self, application: Application, name: str) -> Entity:
        return await configured(application, "Variable", name, {"value": "blue"}, self.path)

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await unconfigured(application, "Variable", entity["Name"])


class TestSchedules(Readable, Removable):
    path = "/scheduling/schedules"
    key = "Name"
    unknown = "no-such-schedule"

    async def make(self, application: Application, name: str) -> Entity:
        spec = {"cron": "0 0 0 1 1 ?", "command": "true", "requirements": {"Nowhere": "x"}}
        return await configured(application, "Schedule", name, spec, self.path)

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await unconfigured(application, "Schedule", entity["Name"])


class TestFlows(Removable):
    path = "/integrations/flows"
    key = "FlowName"

    async def make(self, application: Application, name: str) -> Entity:
        spec = {"cron": "0 0 0 1 1 ?", "command": "true", "requirements": {"Nowhere": "x"}}
        await configured(application, "Schedule", name, spec, "/scheduling/schedules")
        found = await self.find(application, f"schedule-{name}")
        assert found is not None
        return found


class TestPendingRegistrations(Audited):
    path = "/agents/pending"

    async def make(self, application: Application, name: str) -> Entity:
        made = (await application.admin.post("/agents/create", json=name)).raise_for_status().json()
        found = await self.find(application, made["Id"])
        assert found is not None
        return found


class TestAgents(Changeable):
    path = "/agents"

    async def make(self, application: Application, name: str) -> Entity:
        token = (await application.admin.post("/agents/create", json="suite")).json()["Token"]
        made = await application.anonymous.post("/agent/register", json={"Name": name, "Token": token})
        found = await self.find(application, made.raise_for_status().json()["Id"])
        assert found is not None
        return found

    def altered(self, entity: Entity) -> Entity:
        return entity | {"PoolName": f"pool-{uuid4().hex[:6]}"}


class TestUsers(Removable):
    path = "/identity/user"
    key = "Username"

    async def make(self, application: Application, name: str) -> Entity:
        body = {"Email": f"{name}@example.com", "Roles": "Reader"}
        made = (await application.admin.post(self.path, json=body)).raise_for_status().json()
        found = await self.find(application, made["Username"])
        assert found is not None
        return found

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await application.admin.request("DELETE", self.path, json=entity["Username"])


class TestStreams(Listed):
    path = "/eventing/streams"
    key = "Name"

    async def make(self, application: Application, name: str) -> dict[str, Any]:
        await TestSchedules().make(application, name)
        found = await self.find(application, f"schedule-{name}")
        assert found is not None
        return found
