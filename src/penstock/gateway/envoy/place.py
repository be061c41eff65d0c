"""Where a gateway listens and what it may take of its machine, from its settings."""

import asyncio
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from penstock.gateway.envoy.outbound import Outbound
from penstock.gateway.envoy.tls import trusted_authorities
from penstock.gateway.settings import PREFIX, GatewaySettings
from penstock.kernel.errors import FieldError, Invalid, Unavailable
from penstock.protocol.gateway import GatewayHost


class Place(NamedTuple):
    """host: an IP address. port: free when it was looked at. workers: threads."""

    host: str
    port: int
    workers: int
    certificate: Path | None
    key: Path | None

    @classmethod
    async def of(cls, settings: GatewaySettings) -> Self:
        """Raises Invalid naming the settings, Unavailable when the address is taken or not of this machine."""
        certificate, key = _file(settings.tls_certificate), _file(settings.tls_key)
        if (certificate is None) != (key is None):
            raise Invalid.one(PREFIX + "TLS_KEY", "certificate and key belong together")
        _check_files({"TLS_CERTIFICATE": certificate, "TLS_KEY": key})
        host = await _address(settings.host, "HOST")
        workers = settings.workers or os.cpu_count() or 1
        return cls(host, _free_port(host, settings.port), workers, certificate, key)

    @property
    def url(self) -> str:
        scheme = "http" if self.certificate is None else "https"
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{name}:{self.port}"


async def outbound(settings: GatewaySettings) -> Outbound:
    """Raises Invalid naming the setting, Unavailable when the proxy's name means nothing."""
    authorities = trusted_authorities(settings.authorities)
    if not await asyncio.to_thread(os.path.isfile, authorities):
        raise Invalid.one(PREFIX + "AUTHORITIES", f"{authorities} does not exist")
    return Outbound(settings.connections, authorities, await _proxy(settings.proxy) if settings.proxy else None)


async def _proxy(text: str) -> GatewayHost:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port is None or parts.scheme != "http" or parts.username:
        raise Invalid.one(PREFIX + "PROXY", "must be an address like http://proxy:3128")
    return GatewayHost(host=await _address(host, "PROXY"), port=port)


async def _address(host: str, setting: str) -> str:
    """The host's IP address: Envoy takes no names here."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except OSError:
        raise Invalid.one(PREFIX + setting, f"{host} has no address") from None
    return str(min(found, key=lambda entry: entry[0] != socket.AF_INET)[4][0])


def _free_port(host: str, port: int) -> int:
    """Envoy shares its port between threads, and so would share it with another program of the same user."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        # Connections of the last run still linger on the port; that does not hinder Envoy.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise Unavailable(f"the gateway cannot listen on {host}:{port}: {error.strerror}") from None
        return int(probe.getsockname()[1])


def _check_files(files: Mapping[str, Path | None]) -> None:
    missing = {name: file for name, file in files.items() if file is not None and not file.is_file()}
    if missing:
        raise Invalid(FieldError(PREFIX + name, f"{file} does not exist") for name, file in missing.items())


def _file(text: str) -> Path | None:
    return Path(text).expanduser().absolute() if text else None
