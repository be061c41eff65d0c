"""A server that the flows call."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def collector() -> AsyncIterator[str]:
    """Its address, as HOST:PORT.

    `/echo` answers with what came; `/flaky` fails twice for each flow and then succeeds; other paths fail.
    """
    runner = web.ServerRunner(web.Server(_Collector().answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


class _Collector:
    def __init__(self) -> None:
        self._failures: Counter[str] = Counter()

    async def answer(self, request: web.BaseRequest) -> web.Response:
        body = await request.text()
        if request.path == "/echo":
            text = f"{request.method} {request.headers.get('X-Asked', '-')} {body}"
            return web.Response(text=text, headers={"X-Collector": "here"})
        if request.path == "/flaky":
            return self._flaky(body)
        return web.Response(status=404 if request.path == "/missing" else 500, text="no")

    def _flaky(self, body: str) -> web.Response:
        self._failures[body] += 1
        return web.Response(text=body) if self._failures[body] % 3 == 0 else web.Response(status=500)
