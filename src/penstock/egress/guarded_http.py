"""The HTTP client for addresses that come from configurations: guarded, without redirects, bounded answers."""

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import aiohttp
import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from penstock.egress.address_guard import AddressGuard, AddressRefused
from penstock.kernel.errors import PenstockError, TooLarge

_ANSWER_BYTES = 1 << 20
_CONNECTIONS = 100
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f]")


class HttpFailed(PenstockError):
    """No answer came: the host is unknown, refuses, is silent or breaks off. Credentials and query are left out."""

    code = "http-failed"
    title = "The HTTP request failed"


class HttpAnswer(msgspec.Struct, frozen=True):
    """headers: names in lower case; of a repeated one the last value. fields: all headers as they came."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    reason: str = ""
    fields: Sequence[tuple[str, str]] = ()


class HttpPatience(msgspec.Struct, frozen=True):
    """How long to wait, in seconds; None without end.

    total: for all of the request. connect: for the connection. idle: between two pieces of the answer.
    """

    total: float | None = 30.0
    connect: float | None = None
    idle: float | None = None


class GuardedHttp:
    """A client with a connection pool, used as context manager.

    A host is resolved once for each connection, every address checked, and the connection made to just these.
    Redirects are answers like others; proxies of the environment are not used; cookies are not kept.
    """

    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        # aiohttp does not ask the resolver about literal addresses: `request` does.
        connector = aiohttp.TCPConnector(
            resolver=_GuardedResolver(self._guard), use_dns_cache=False, limit=_CONNECTIONS
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("user-agent", "content-type"),
            requote_redirect_url=False,
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        timeout: float | HttpPatience = 30.0,
        most: int = _ANSWER_BYTES,
        cut: bool = False,
    ) -> HttpAnswer:
        """One request. timeout: seconds in all, or how long to wait for what.

        most: bytes that the answer's body may have. cut: a longer one is cut there, instead of TooLarge.

        Raises AddressRefused, HttpFailed, TooLarge.
        """
        if self._session is None:
            raise RuntimeError("the client is not open")
        target = _target(url)
        host = target.host or ""
        patience = timeout if isinstance(timeout, HttpPatience) else HttpPatience(timeout)
        waits = aiohttp.ClientTimeout(total=None, sock_connect=patience.connect, sock_read=patience.idle)
        try:
            async with asyncio.timeout(patience.total):
                if host[-1:].isdigit() or ":" in host:
                    await self._guard.resolve(host)
                async with self._session.request(
                    method, target, headers=headers, data=body or None, allow_redirects=False, timeout=waits
                ) as answer:
                    read = await _read(answer, most + 1)
                    if len(read) > most:
                        answer.close()  # of no more use: the rest of the body would come first
                        if not cut:
                            raise TooLarge(f"{host} answered more than {most} bytes")
                    found = {name.lower(): value for name, value in answer.headers.items()}
                    fields = list(answer.headers.items())
                    return HttpAnswer(answer.status, found, read[:most], answer.reason or "", fields)
        except TimeoutError as error:
            raise HttpFailed(f"{host} did not answer within {_patience(error, patience):g} s") from None
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, _Refused):
                raise AddressRefused(str(error.os_error)) from None
            raise HttpFailed(f"{host} cannot be reached: {_reason(error.os_error)}") from None
        except (aiohttp.ClientError, ssl.SSLError, OSError, ValueError) as error:
            raise HttpFailed(f"the request to {host} failed: {_reason(error)}") from None


def http_host(url: str) -> str:
    """The host of an http or https address. Raises ValueError with what is allowed."""
    allowed = "must be an address like 'https://example.com/path'"
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
        _target(url)
    except ValueError:
        raise ValueError(allowed) from None
    if parts.scheme not in ("http", "https") or not host or port == 0 or _UNPRINTABLE.search(url):
        raise ValueError(allowed)
    if parts.username is not None or parts.password is not None:
        raise ValueError("must not contain credentials")
    return host


def _target(url: str) -> URL:
    """The address as it is written; what is not ASCII is encoded."""
    return URL(url, encoded=url.isascii())


class _Refused(OSError):
    """How the guard's refusal passes through aiohttp."""


class _GuardedResolver(AbstractResolver):
    def __init__(self, guard: AddressGuard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        try:
            addresses = await self._guard.resolve(host)
        except AddressRefused as error:
            raise _Refused(error.detail) from None
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


def _patience(error: TimeoutError, patience: HttpPatience) -> float:
    """Which of the times was over."""
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return patience.connect or 0
    if isinstance(error, aiohttp.SocketTimeoutError):
        return patience.idle or 0
    return patience.total or 0


async def _read(answer: aiohttp.ClientResponse, most: int) -> bytes:
    chunks: list[bytes] = []
    left = most
    while left and (chunk := await answer.content.read(left)):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _reason(error: BaseException) -> str:
    """What went wrong in words that name no address: those may hold secrets."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is refused, {error.verify_message}"
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) and error.strerror:
        return os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
    return {
        aiohttp.ServerDisconnectedError: "the connection was closed",
        aiohttp.ClientPayloadError: "the answer broke off",
    }.get(type(error), type(error).__name__)
