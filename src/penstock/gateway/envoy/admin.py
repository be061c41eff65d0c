"""Envoy's own interface, on a socket in its folder."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from penstock.gateway.envoy.bootstrap import ADMIN_SOCKET
from penstock.kernel.errors import Unavailable

_SECONDS = 10.0


class Admin:
    """Used as a context manager. Every call raises Unavailable while Envoy does not answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def __aenter__(self) -> Self:
        # A path below the folder's handle is short enough for a socket, however deep the folder lies.
        self._handle = os.open(self._folder, os.O_PATH | os.O_DIRECTORY)
        transport = httpx.AsyncHTTPTransport(uds=f"/proc/self/fd/{self._handle}/{ADMIN_SOCKET}")
        self._client = httpx.AsyncClient(base_url="http://envoy", transport=transport, timeout=_SECONDS)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()
        os.close(self._handle)

    async def reopen_logs(self) -> None:
        await self._call("POST", "/reopen_logs")

    async def statistics(self) -> dict[str, str]:
        """By name, counters, gauges and texts."""
        lines = (await self._call("GET", "/stats")).splitlines()
        pairs = (line.partition(": ") for line in lines)
        return {name: value.strip('"') for name, _, value in pairs}

    async def _call(self, method: str, path: str) -> str:
        try:
            answer = await self._client.request(method, path)
        except (httpx.HTTPError, OSError) as error:
            raise Unavailable(f"Envoy does not answer: {error or type(error).__name__}") from None
        if answer.status_code != httpx.codes.OK:
            raise Unavailable(f"Envoy answers {answer.status_code} to {path}")
        return answer.text
