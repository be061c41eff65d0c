"""Hands requests at the agent's own address on to the Java process whose flow has the path."""

from collections.abc import Collection

import httpx
from aiohttp import web

from penstock.flow.camel.console import Served
from penstock.flow.http.http_server import HttpServer, ServedPath, ServerRequest, problem

# Of one connection only, or made anew by whoever sends.
_OF_THE_WAY = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "content-encoding",
    "date",
    "server",
}


class HttpFront:
    """The paths of one version of a flow, from `open` to `close`. port: where its process listens."""

    def __init__(self, server: HttpServer, client: httpx.AsyncClient, flow: str, port: int) -> None:
        self._server = server
        self._client = client
        self._flow = flow
        self._address = f"http://127.0.0.1:{port}"
        self._paths: list[ServedPath] = []

    async def open(self, served: Collection[Served]) -> None:
        """Raises HttpServerFailed when another flow has a path; then none is served."""
        try:
            for each in served:
                path = ServedPath(each.path, each.methods, each.prefix, (self._flow, self), self._hand_on)
                await self._server.serve(path)
                self._paths.append(path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Takes no more requests."""
        while self._paths:
            self._server.end(self._paths.pop())

    async def _hand_on(self, request: ServerRequest) -> web.Response:
        headers = [(name, value) for name, value in request.web.headers.items() if name.lower() not in _OF_THE_WAY]
        try:
            answer = await self._client.request(
                request.web.method,
                f"{self._address}{request.web.rel_url.raw_path_qs}",
                headers=headers,
                content=request.body or None,
                timeout=None,
                follow_redirects=False,
            )
        except httpx.HTTPError:
            return problem(503, "The flow's process does not answer", {"Retry-After": "1"})
        response = web.Response(status=answer.status_code, body=answer.content)
        response.headers.popall("Content-Type", None)
        for name, value in answer.headers.multi_items():
            if name.lower() not in _OF_THE_WAY:
                response.headers.add(name, value)
        return response
