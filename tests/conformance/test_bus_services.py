"""Discovery of services that announce themselves by NATS micro's protocol."""

import base64

import nats.micro
from nats.micro.request import Request
from nats.micro.service import EndpointConfig, ServiceConfig

import nats
from penstock.bus.bus import Bus
from penstock.bus.nkeys import NKey
from penstock.bus.services import list_services
from tests.nats_server import NatsServer

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
