"""A real Envoy as a gateway has it, what tables are made of, and calls to it."""

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from penstock.gateway.envoy.gateway import Gateway
from penstock.gateway.settings import gateway_settings
from penstock.protocol.gateway import (
    Access,
    GatewayConnection,
    GatewayHost,
    GatewayKey,
    GatewaySubscription,
    GatewayTable,
    GatewayUpstream,
    GatewayVersion,
)

PATH = "/orders/v1"
KEY = {"X-API-Key": "k-1"}


class Served:
    """A gateway and a client that calls it."""

    def __init__(self, gateway: Gateway, client: httpx.AsyncClient) -> None:
        self.gateway = gateway
        self.client = client

    async def apply(self, versions: list[GatewayVersion], subscriptions: list[GatewaySubscription]) -> None:
        await self.gateway.apply(GatewayTable(versions=versions, subscriptions=subscriptions))

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> httpx.Response:
        return await self.client.get(path, headers=headers)

    async def status(self, path: str, headers: Mapping[str, str] | None = None) -> int:
        return (await self.get(path, headers)).status_code


@asynccontextmanager
async def served(folder: Path, **settings: str) -> AsyncIterator[Served]:
    """settings: their names without the prefix."""
    environment = {"PORT": "0", "WORKERS": "1", "ALLOW_PRIVATE_ADDRESSES": "true", **settings}
    read = gateway_settings({f"PENSTOCK_GATEWAY_{name}": value for name, value in environment.items()})
    async with Gateway(read, folder) as gateway:
        verify = ssl.create_default_context(cafile=settings.get("TLS_CERTIFICATE"))
        async with httpx.AsyncClient(base_url=gateway.address, timeout=30, verify=verify, trust_env=False) as client:
            yield Served(gateway, client)


def host(port: int, name: str = "127.0.0.1") -> GatewayHost:
    return GatewayHost(host=name, port=port)


def version(*ports: int, path: str = PATH, access: tuple[Access, ...] = (), **changes: Any) -> GatewayVersion:
    """A version whose upstream is on these ports.

    changes: fields of it, of its connection, or of its upstream, whose path is called upstream_path.
    """
    of_version = {name: changes.pop(name) for name in ("deprecated", "sunset") if name in changes}
    if "upstream_path" in changes:
        changes["path"] = changes.pop("upstream_path")
    connection = {name: changes.pop(name) for name in list(changes) if name in GatewayConnection.__struct_fields__}
    upstream = {"hosts": [host(port) for port in ports], **changes}
    _, api, number = path.split("/")
    return GatewayVersion(
        api=api,
        version=number,
        path=path,
        upstream=GatewayUpstream(**upstream),
        connection=GatewayConnection(**connection),
        access=list(access),
        **of_version,
    )


def subscription(
    name: str = "acme", *keys: str, paths: tuple[str, ...] = (PATH,), **fields: Any
) -> GatewaySubscription:
    """With API keys unless it says otherwise."""
    fields = {"type": Access.API_KEY, **fields}
    return GatewaySubscription(name=name, paths=list(paths), keys=[GatewayKey(key=key) for key in keys], **fields)
