"""The HTTP server: one listening socket, uvicorn on it."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, cast

import uvicorn
from litestar.types import ASGIApp

from penstock.kernel.errors import Invalid
from penstock.server.http_connection import HttpConnection
from penstock.server.settings import PREFIX

_TICKS = 10  # uvicorn ticks ten times a second


class HttpServer(uvicorn.Server):
    """Leaves signals to the program; is stopped by `should_exit`. Closes connections that are too slow."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS == 0:
            now = asyncio.get_running_loop().time()
            for connection in [*self.server_state.connections]:
                if isinstance(connection, HttpConnection) and connection.overdue(now):
                    connection.transport.abort()
        return await super().on_tick(counter)


class Listening(Protocol):
    """What settings say of where and how to listen."""

    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...
    @property
    def trusted_proxies(self) -> list[str]: ...
    @property
    def grace_seconds(self) -> int: ...


def listening_socket(settings: Listening, prefix: str = PREFIX) -> socket.socket:
    """Takes the address before anything else is started. Raises Invalid naming the setting when it cannot.

    prefix: of the settings' names.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # asyncio turns Nagle's algorithm off, which holds answers back by 40 ms, only where the protocol is named.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except PermissionError:
        raise Invalid.one(f"{prefix}PORT", f"{settings.port} may not be used by this user") from None
    except socket.gaierror:
        raise Invalid.one(f"{prefix}HOST", f"'{settings.host}' is no address of this machine") from None
    except OSError as error:
        message = f"{settings.host}:{settings.port} cannot be listened on: {error.strerror}"
        raise Invalid.one(f"{prefix}PORT", message) from None
    listener.set_inheritable(False)
    return listener


def http_server(
    application: ASGIApp, settings: Listening, connection: Callable[..., asyncio.Protocol] = HttpConnection
) -> HttpServer:
    """A server for the application. Requests in progress get `grace_seconds` when it stops.

    connection: makes each of its connections, as uvicorn has it.
    """
    config = uvicorn.Config(
        application,
        http=cast("type[asyncio.Protocol]", connection),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=settings.grace_seconds,
    )
    return HttpServer(config)
