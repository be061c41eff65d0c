"""Discovery of services that announce themselves by NATS micro's protocol."""

import base64
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import nats.micro
from nats.micro.request import Request
from nats.micro.service import EndpointConfig, ServiceConfig

import nats
from penstock.bus.bus import Bus
from penstock.bus.nkeys import NKey
from penstock.bus.services import list_services
from tests.nats_server import NatsServer, eventually

pytest_plugins = ("tests.nats",)


async def test_a_running_service_is_listed_with_its_endpoints_and_answers(
    bus: Bus, nats_server: NatsServer, unique: str
) -> None:
    credential = nats_server.keys.server_user()
    key = NKey.from_seed(credential.seed)
    client = await nats.connect(
        nats_server.url,
        user_jwt_cb=lambda: bytearray(credential.jwt.encode()),
        signature_cb=lambda nonce: base64.b64encode(key.sign(nonce.encode())),
    )

    async def double(request: Request) -> None:
        await request.respond(request.data * 2)

    service = await nats.micro.add_service(
        client, ServiceConfig(name=unique, version="1.2.3", description="doubles", metadata={"team": "a"})
    )
    await service.add_endpoint(EndpointConfig(name="double", subject=f"{unique}.double", handler=double))
    [found] = [info for info in await list_services(bus) if info.name == unique]
    assert (found.version, found.description, found.metadata) == ("1.2.3", "doubles", {"team": "a"})
    assert found.endpoints is not None
    [endpoint] = found.endpoints
    assert (endpoint.name, endpoint.subject) == ("double", f"{unique}.double")
    assert (await bus.request(endpoint.subject, b"ab")).data == b"abab"
    await service.stop()
    await client.close()
    assert [info for info in await list_services(bus) if info.name == unique] == []


async def connect_with_file(url: str, text: str, error_cb: Callable[[Exception], Awaitable[None]]) -> Any:
    """As clients do with a `.creds` file: the line after each BEGIN counts."""
    lines = text.splitlines()
    jwt, seed = (lines[number + 1] for number, line in enumerate(lines) if "BEGIN" in line)
    key = NKey.from_seed(seed)
    return await nats.connect(
        url,
        user_jwt_cb=lambda: bytearray(jwt.encode()),
        signature_cb=lambda nonce: base64.b64encode(key.sign(nonce.encode())),
        error_cb=error_cb,
    )


async def test_a_services_own_credentials_let_it_answer_and_nothing_else(
    bus: Bus, nats_server: NatsServer, unique: str
) -> None:
    credential = nats_server.keys.service_user(unique, datetime.now(UTC) + timedelta(hours=1))
    refused: list[str] = []

    async def note(error: Exception) -> None:
        refused.append(str(error))

    client = await connect_with_file(nats_server.url, credential.file_text(), note)

    async def double(request: Request) -> None:
        await request.respond(request.data * 2)

    service = await nats.micro.add_service(client, ServiceConfig(name=unique, version="1.0.0"))
    await service.add_endpoint(EndpointConfig(name="double", subject=f"service.{unique}.double", handler=double))
    await client.flush()
    assert unique in [info.name for info in await list_services(bus)]
    assert (await bus.request(f"service.{unique}.double", b"ab")).data == b"abab"
    assert refused == []
    for subject in (f"service.{unique}.double", "event.accepted", "$JS.API.STREAM.NAMES", "to.x.changed"):
        await client.publish(subject, b"")
    for subject in ("service.other.x", "agent.>", "event.>", "_INBOX.>"):
        await client.subscribe(subject)
    await client.flush()
    await eventually(lambda: len(refused) == 8)
    await service.stop()
    await client.close()
