"""The board as an ASGI application."""

import asyncio
import json
from contextlib import suppress

LARGEST_BODY = 16 * 1024
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Board", "version": "1.0.0"},
    "paths": {
        "/messages": {
            "get": {"operationId": "messages", "responses": {"200": {"description": "The messages that are kept."}}},
            "post": {
                "operationId": "post",
                "requestBody": {"required": True, "content": {"application/json": {"schema": _TEXT}}},
                "responses": {"201": {"description": "The message."}, "400": {"description": "No message."}},
            },
        },
        "/events": {
            "get": {
                "operationId": "events",
                "parameters": [{"name": "Last-Event-ID", "in": "header", "schema": {"type": "integer"}}],
                "responses": {"200": {"description": "Each message, as text/event-stream."}},
            }
        },
    },
}


class Application:
    """GET and POST /messages, GET /events, a WebSocket at /talk."""

    def __init__(self, board):
        self._board = board

    async def __call__(self, scope, receive, send):
        path = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        if scope["type"] == "websocket":
            await self._talk(path, receive, send)
        elif scope["type"] == "http":
            await self._serve(scope["method"], path, scope, receive, send)
        else:
            raise NotImplementedError  # no lifespan needed

    async def _serve(self, method, path, scope, receive, send):
        match method, path:
            case "GET", "/openapi.json":
                await _answer(send, 200, OPENAPI)
            case "GET", "/messages":
                await _answer(send, 200, [vars(message) for message in self._board.after(0)])
            case "POST", "/messages":
                await self._post(receive, send)
            case "GET", "/events":
                await self._tell(scope, receive, send)
            case _:
                await _answer(send, 404, {"detail": f"nothing is served at {method} {path}"})

    async def _post(self, receive, send):
        try:
            text = json.loads(await _body(receive))["text"]
            message = self._board.post(text)
        except (ValueError, TypeError, KeyError) as error:
            await _answer(send, 400, {"detail": f'send {{"text": "..."}}: {error}'})
        else:
            await _answer(send, 201, vars(message))

    async def _tell(self, scope, receive, send):
        """Until the caller leaves. Whoever comes again says what it has had."""
        last = dict(scope["headers"]).get(b"last-event-id", b"0")
        if not last.isdigit():
            await _answer(send, 400, {"detail": "Last-Event-ID is a number"})
            return
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

        async def write():
            async for message in self._board.follow(int(last)):
                event = f"id: {message.number}\ndata: {json.dumps(message.text)}\n\n"
                await send({"type": "http.response.body", "body": event.encode(), "more_body": True})

        await _while_there(write(), receive)

    async def _talk(self, path, receive, send):
        """What is said becomes a message; every message is told."""
        await receive()
        if path != "/talk":
            await send({"type": "websocket.close"})
            return
        await send({"type": "websocket.accept"})

        async def write():
            async for message in self._board.follow(0):
                await send({"type": "websocket.send", "text": json.dumps(vars(message))})

        def said(message):
            try:
                self._board.post(message.get("text"))
            except ValueError as error:
                return {"type": "websocket.close", "code": 1008, "reason": str(error)}
            return None

        end = await _while_there(write(), receive, said)
        if end is not None:
            await send(end)


async def _while_there(writing, receive, said=lambda message: None):
    """Writes until the caller leaves, or `said` answers how to end, which is returned."""
    task = asyncio.ensure_future(writing)
    try:
        while (message := await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
            if end := said(message):
                return end
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _body(receive):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            raise ValueError(f"the body has more than {LARGEST_BODY} bytes")
        if not message.get("more_body", False):
            return body


async def _answer(send, status, content):
    body = json.dumps(content).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
