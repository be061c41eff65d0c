"""Channels of tests, with a real HTTP server behind them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

import msgspec

from penstock.protocol.cloudevent import CloudEvent
from tests.application import Application
from tests.areas.waiting import until
from tests.http_sink import HttpSink, Reply

REFUSE = Reply(500, body=b"no")


def event(id: str, **attributes: Any) -> CloudEvent:
    return CloudEvent(**{"id": id, "source": "/tests", "type": "test.happened", "data": {"number": 1}, **attributes})


class TestChannel:
    """A channel of its own name, to which events are published directly."""

    __test__ = False

    def __init__(self, application: Application) -> None:
        self.application = application
        self.name = f"c{uuid4().hex}"
        self.id = ""

    async def make(
        self, *endpoints: Mapping[str, Any], components: Sequence[Mapping[str, Any]] = (), **options: Any
    ) -> None:
        """Each endpoint and component: its configuration, and `type`."""
        answer = await self.application.operator.post(
            "/api/EventHub/Channels",
            json={
                "Name": self.name,
                "Configuration": msgspec.json.encode(options).decode(),
                "Components": [_part(index, part) for index, part in enumerate(components)],
                "Endpoints": [_part(index, part) for index, part in enumerate(endpoints)],
            },
        )
        assert answer.status_code == 201, answer.text
        self.id = answer.json()["ChannelId"]

    async def apply(self, **spec: Any) -> None:
        """Makes or changes it by a configuration document."""
        answer = await self.application.apply(
            {"apiVersion": "penstock/v1alpha1", "kind": "EventChannel", "metadata": {"name": self.name}, "spec": spec}
        )
        assert answer.status_code == 202, answer.text

    async def publish(self, *events: CloudEvent) -> None:
        if not self.id:
            channels = (await self.application.reader.get("/api/EventHub/Channels")).json()
            self.id = next(channel["ChannelId"] for channel in channels if channel["Name"] == self.name)
        answer = await self.application.operator.post(
            f"/api/EventHub/Admin/channels/{self.id}/publish",
            content=msgspec.json.encode([each.value() for each in events]),
            headers={"content-type": "application/cloudevents-batch+json"},
        )
        assert answer.status_code == 200, answer.text

    async def state(self) -> dict[str, Any]:
        answer = await self.application.reader.get(f"/eventing/deliveries/{self.name}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def dead_letters(self, count: int = 1, **query: Any) -> list[dict[str, Any]]:
        """The dead letters, newest first, once there are so many."""

        async def found() -> list[dict[str, Any]] | None:
            answer = await self.application.reader.get(f"/eventing/deadletters/{self.name}", params=query)
            assert answer.status_code == 200, answer.text
            return answer.json() if len(answer.json()) >= count else None

        letters = await until(found)
        assert letters is not None
        return letters

    async def done(self) -> None:
        """Returns when nothing is left to be delivered."""

        async def idle() -> bool:
            state = await self.state()
            return state["Waiting"] == state["InHand"] == 0

        await until(idle)

    async def remove(self) -> None:
        await self.application.operator.delete("/api/EventHub/Channels", params={"channelName": self.name})


def _part(position: int, part: Mapping[str, Any]) -> dict[str, Any]:
    configuration = {name: value for name, value in part.items() if name != "type"}
    return {
        "Type": part["type"],
        "Version": "1.0.0",
        "Configuration": msgspec.json.encode(configuration).decode(),
        "Position": position,
    }


def http(sink: HttpSink, **configuration: Any) -> dict[str, Any]:
    return {"type": "http", "url": sink.url, **configuration}


def refuse(*ids: str) -> Any:
    """Answers 500 to the events of these ids, 204 to others."""
    return lambda request: REFUSE if request.event["id"] in ids else Reply()


def ids(sink: HttpSink) -> list[str]:
    return [event["id"] for event in sink.events]
