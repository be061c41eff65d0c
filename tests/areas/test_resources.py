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


class TestChannels(Readable, Audited):
    path = "/api/EventHub/Admin/channels"

    async def make(self, application: Application, name: str) -> Entity:
        made = (await application.admin.post(self.path, json={"Name": name})).raise_for_status().json()
        found = await self.find(application, made["ChannelId"])
        assert found is not None
        return found


class TestSubscriptions(Readable, Audited):
    path = "/api/EventHub/Admin/subscriptions"

    async def make(self, application: Application, name: str) -> Entity:
        channel = await TestChannels().make(application, name)
        query = {"channelId": channel["Id"], "source": "*", "eventType": name, "specVersion": "*"}
        made: Entity = (await application.admin.post(self.path, params=query)).raise_for_status().json()
        return made

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await application.admin.delete(self.path, params={"subscriptionId": entity["Id"]})


class TestEventDefinitions(Readable, Audited):
    path = "/api/EventHub/Admin/eventDefinitions"

    async def make(self, application: Application, name: str) -> Entity:
        definition = {"Type": name, "Source": "suite"}
        (await application.admin.post("/api/EventHub/EventDefinitions", json=definition)).raise_for_status()
        listed = (await application.admin.get(self.path)).raise_for_status().json()
        return next(entity for entity in listed if entity["Type"] == name)

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await application.admin.delete(f"/api/EventHub/EventDefinitions/{entity['Type']}/suite/1.0")


class TestEventChannels(Readable, Removable):
    path = "/eventchannels/v2"
    key = "Name"
    unknown = "no-such-channel"

    async def make(self, application: Application, name: str) -> Entity:
        return await configured(application, "EventChannel", name, {"type": "log"}, self.path)

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await unconfigured(application, "EventChannel", entity["Name"])


class TestEventSubscriptions(Readable, Removable):
    path = "/eventsubscriptions/v2"
    key = "Name"
    unknown = "no-such-subscription"

    async def make(self, application: Application, name: str) -> Entity:
        await TestEventChannels().make(application, name)
        spec = {"channel": name, "eventType": name}
        return await configured(application, "EventSubscription", name, spec, self.path)

    async def remove(self, application: Application, entity: Entity) -> httpx.Response:
        return await unconfigured(application, "EventSubscription", entity["Name"])
