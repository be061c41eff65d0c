"""Services that announce themselves on the bus (NATS micro, ADR-32): who is there. `Bus.request` asks an endpoint."""

import asyncio

import msgspec
import structlog

from penstock.bus.bus import Bus
from penstock.bus.message import Received

_log = structlog.get_logger(__name__)
_QUIET_SECONDS = 0.3
_LONGEST_SECONDS = 2.0


class ServiceEndpoint(msgspec.Struct, frozen=True):
    """subject: where a request goes."""

    name: str
    subject: str
    queue_group: str | None = None
    metadata: dict[str, str] | None = None


class ServiceInfo(msgspec.Struct, frozen=True):
    """One running instance of a service."""

    name: str
    id: str
    version: str
    description: str | None = None
    type: str | None = None
    metadata: dict[str, str] | None = None
    endpoints: list[ServiceEndpoint] | None = None


_info = msgspec.json.Decoder(ServiceInfo)


async def list_services(bus: Bus) -> list[ServiceInfo]:
    """The instances that answer, by name and id. An answer that is late, or not an info, is left out."""
    found: dict[str, ServiceInfo] = {}
    heard = asyncio.Event()

    async def note(answer: Received) -> None:
        heard.set()
        try:
            info = _info.decode(answer.data)
        except msgspec.DecodeError as error:
            _log.debug("not a service's answer", error=str(error))
            return
        found[info.id] = info

    inbox = (await bus.session()).client.new_inbox()
    subscription = await bus.subscribe(inbox, note)
    try:
        await bus.notify("$SRV.INFO", reply=inbox)
        async with asyncio.timeout(_LONGEST_SECONDS):
            while True:
                await asyncio.wait_for(heard.wait(), _QUIET_SECONDS)
                heard.clear()
    except TimeoutError:
        pass  # nobody answers any more
    finally:
        await subscription.stop()
    return sorted(found.values(), key=lambda info: (info.name, info.id))
