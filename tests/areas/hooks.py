"""Webhooks of tests, and what their senders sign with."""

import base64
import hmac
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx

from penstock.areas.webhooks.service import WebhookService
from penstock.bus.bus import Bus
from penstock.bus.reader import StreamReader
from penstock.connectors.standard_webhooks import signed_headers, signing_key
from penstock.protocol.cloudevent import CloudEvent
from penstock.protocol.event_streams import EVENTS
from tests.application import Application

OPEN = {"type": "open"}
MASK = "******"
KEY = "a key that nobody guesses"
WHSEC = "whsec_" + base64.b64encode(b"k" * 32).decode()


class Hook:
    """A webhook that only one test uses."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.name = f"t.{uuid4().hex}"
        self.path = f"/webhooks/{self.name}"
        self.bus = application.platform.container.get(Bus)

    async def apply(self, authentication: dict[str, Any] | None = None, **spec: Any) -> httpx.Response:
        return await self.application.apply(self.document({"authentication": authentication or OPEN, **spec}))

    async def make(self, authentication: dict[str, Any] | None = None, **spec: Any) -> None:
        answer = await self.apply(authentication, **spec)
        assert answer.status_code == 202, answer.text

    def document(self, spec: dict[str, Any], **metadata: Any) -> dict[str, Any]:
        return {
            "apiVersion": "penstock/v1alpha1",
            "kind": "Webhook",
            "metadata": {"name": self.name, **metadata},
            "spec": spec,
        }

    async def plan(self, spec: dict[str, Any]) -> dict[str, Any]:
        document = self.document(spec)
        answer = await self.application.admin.post("/configuration/plan", json=httpx.Response(200, json=document).text)
        assert answer.status_code == 200, answer.text
        [change] = answer.json()
        return dict(change)

    async def send(self, body: bytes = b"", method: str = "POST", query: str = "", **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        address = f"{self.path}?{query}" if query else self.path
        return await self.application.anonymous.request(method, address, content=body, headers=named)

    async def history(self) -> list[dict[str, Any]]:
        answer = await self.application.reader.get(f"/api/webhooks/{self.name}/history")
        assert answer.status_code == 200, answer.text
        return list(answer.json())

    async def events(self) -> list[CloudEvent]:
        """The events of this webhook that were accepted, newest first."""
        stored = await StreamReader(self.bus).newest(EVENTS, count=1000)
        events = [CloudEvent.from_json(message.data) for message in stored]
        return [event for event in events if event.source == self.path]

    async def rehandle(self, message: str) -> httpx.Response:
        return await self.application.operator.post(f"/api/webhooks/{self.name}/rehandle/{message}")

    async def audited(self) -> list[dict[str, Any]]:
        """What the audit log has of the webhook, newest first."""
        webhook = await self.application.platform.container.get(WebhookService).named(self.name)
        query = {"entityId": str(webhook.key), "fromDate": "2020-01-01T00:00:00Z", "toDate": "2100-01-01T00:00:00Z"}
        return list((await self.application.admin.get("/events/store", params=query)).json())


def hmac_of(body: bytes, algorithm: str = "sha256", key: str = KEY) -> bytes:
    return hmac.digest(key.encode(), body, algorithm)


def signed(body: bytes, at: datetime, secret: str = WHSEC, id: str = "msg_1") -> dict[str, str]:
    return signed_headers(id, at, body, [signing_key(secret)])
