import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import nats.micro
import pytest
from nats.aio.client import Client
from nats.micro.request import Request, ServiceError
from nats.micro.service import EndpointConfig, Service, ServiceConfig

import nats
from penstock.bus.credentials import BusKeys
from penstock.bus.nkeys import NKey
from tests.application import Application

PATH = "/services"


@pytest.fixture
async def client(application: Application) -> AsyncIterator[Client]:
    """A NATS client that is none of ours."""
    container, nats_process = application.platform.container, application.platform.nats
    assert nats_process is not None
    credential = container.get(BusKeys).server_user()
    key = NKey.from_seed(credential.seed)
    connected = await nats.connect(
        nats_process.url,
        user_jwt_cb=lambda: bytearray(credential.jwt.encode()),
        signature_cb=lambda nonce: base64.b64encode(key.sign(nonce.encode())),
    )
    yield connected
    await connected.close()


@pytest.fixture
def name() -> str:
    return f"t{uuid4().hex}"


@asynccontextmanager
async def running_service(
    client: Client, name: str, handler: Callable[[Request], Awaitable[None]], subject: str | None = None
) -> AsyncIterator[Service]:
    config = ServiceConfig(name=name, version="1.2.3", description="lights", metadata={"team": "a"})
    service = await nats.micro.add_service(client, config)
    endpoint = EndpointConfig(name="switch", subject=subject or f"{name}.switch", handler=handler, metadata={"x": "y"})
    await service.add_endpoint(endpoint)
    try:
        yield service
    finally:
        await service.stop()


class Lamp:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bytes]] = []

    async def switch(self, request: Request) -> None:
        self.asked.append((request.subject, request.data))
        if request.data == b"break":
            raise ServiceError(code="500", description="broken")
        await request.respond(b"done")


async def send(application: Application, endpoint: Any, data: bytes = b"on") -> httpx.Response:
    body = {"Endpoint": endpoint, "Data": base64.b64encode(data).decode()}
    return await application.operator.post(PATH, json=body)


async def listed(application: Application, name: str) -> list[dict[str, Any]]:
    answer = await application.reader.get(PATH)
    assert answer.status_code == 200
    return [each for each in answer.json() if each["Name"] == name]


async def test_a_running_service_is_listed_with_its_endpoints(
    application: Application, client: Client, name: str
) -> None:
    async with running_service(client, name, Lamp().switch) as service:
        assert await listed(application, name) == [
            {
                "Name": name,
                "Version": "1.2.3",
                "Description": "lights",
                "Type": "io.nats.micro.v1.info_response",
                "Id": service.id,
                "Metadata": {"team": "a"},
                "Endpoints": [
                    {"Name": "switch", "Version": "1.2.3", "Endpoint": f"{name}.switch", "Metadata": {"x": "y"}}
                ],
            }
        ]
    assert await listed(application, name) == []


async def test_each_instance_of_a_service_is_listed(application: Application, client: Client, name: str) -> None:
    async with running_service(client, name, Lamp().switch), running_service(client, name, Lamp().switch):
        found = await listed(application, name)
    assert len({each["Id"] for each in found}) == 2


async def test_a_request_reaches_the_service_byte_for_byte(application: Application, client: Client, name: str) -> None:
    lamp = Lamp()
    async with running_service(client, name, lamp.switch):
        answer = await send(application, f"{name}.switch", bytes(range(256)))
    assert (answer.status_code, answer.content) == (200, b"")
    assert lamp.asked == [(f"{name}.switch", bytes(range(256)))]


async def test_one_of_several_instances_is_asked(application: Application, client: Client, name: str) -> None:
    lamps = Lamp(), Lamp()
    async with running_service(client, name, lamps[0].switch), running_service(client, name, lamps[1].switch):
        assert (await send(application, f"{name}.switch")).status_code == 200
    assert len(lamps[0].asked) + len(lamps[1].asked) == 1


async def test_an_endpoint_with_a_wildcard_takes_what_it_stands_for(
    application: Application, client: Client, name: str
) -> None:
    lamp = Lamp()
    async with running_service(client, name, lamp.switch, f"{name}.*.switch"):
        assert (await send(application, f"{name}.hall.switch")).status_code == 200
        assert (await send(application, f"{name}.hall.lamp.switch")).status_code == 400
    assert [subject for subject, _ in lamp.asked] == [f"{name}.hall.switch"]


async def test_nobody_there_is_400_without_a_body(application: Application, client: Client, name: str) -> None:
    answer = await send(application, f"{name}.switch")
    assert (answer.status_code, answer.content) == (400, b"")
    async with running_service(client, name, Lamp().switch):
        assert (await send(application, f"{name}.switch")).status_code == 200
    gone = await send(application, f"{name}.switch")
    assert (gone.status_code, gone.content) == (400, b"")


async def test_a_service_that_refuses_is_400(application: Application, client: Client, name: str) -> None:
    lamp = Lamp()
    async with running_service(client, name, lamp.switch):
        answer = await send(application, f"{name}.switch", b"break")
    assert (answer.status_code, answer.content, len(lamp.asked)) == (400, b"", 1)


async def test_a_subject_that_no_service_announced_is_not_published_to(
    application: Application, client: Client, name: str
) -> None:
    heard = await client.subscribe(f"{name}.>")
    assert (await send(application, f"{name}.quiet")).status_code == 400
    await client.flush()
    assert heard.pending_msgs == 0


@pytest.mark.parametrize("subject", ["$JS.API.STREAM.NAMES", "agent.x.ping", "stream.x", "event.accepted", "_INBOX.x"])
async def test_an_announcement_does_not_open_the_platforms_own_subjects(
    application: Application, client: Client, name: str, subject: str
) -> None:
    info = {
        "name": name,
        "id": name,
        "version": "1.0.0",
        "type": "io.nats.micro.v1.info_response",
        "endpoints": [{"name": "evil", "subject": subject}],
    }

    async def announce(request: Any) -> None:
        await request.respond(json.dumps(info).encode())

    subscription = await client.subscribe("$SRV.INFO", cb=announce)
    await client.flush()
    assert await listed(application, name)
    assert (await send(application, subject)).status_code == 400
    await subscription.unsubscribe()


@pytest.mark.parametrize("endpoint", [None, "", "a b", "a..b", "a.*", ">", "a\r\nPUB x 0", "a" * 2000, 7])
async def test_what_is_no_subject_is_400(application: Application, endpoint: Any) -> None:
    answer = await send(application, endpoint)
    assert (answer.status_code, answer.content) == (400, b"")


async def test_readers_see_services_but_do_not_use_them(application: Application) -> None:
    assert (await application.reader.post(PATH, json={"Endpoint": "a"})).status_code == 403
