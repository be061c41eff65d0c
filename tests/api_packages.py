"""Packages of APIs for tests: the examples, and one that fails in every way, in a folder index of wheels."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path

from tests.wheel import wheel

EXAMPLES = Path(__file__).parent.parent / "examples" / "packages"

FICKLE = '''
"""An API that does as it is told."""

import asyncio
import json
import os


class Application:
    def __init__(self, configuration):
        self.configuration = configuration
        self.healthy = True
        self.tick = asyncio.Event()

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            await receive()
            if self.configuration.get("fail") == "startup":
                await send({"type": "lifespan.startup.failed", "message": "no database"})
                return
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        if scope["type"] == "websocket":
            await self.talk(scope, receive, send)
            return
        path = scope["path"].removeprefix(scope["root_path"])
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if path == "/health":
            status = 200 if self.healthy else 503
            await self.answer(send, status, {})
        elif path == "/flap":
            self.healthy = not self.healthy
            await self.answer(send, 200, self.healthy)
        elif path == "/end":
            os._exit(7)
        elif path == "/break":
            headers = [(b"content-length", b"100")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
            os._exit(8)
        elif path == "/slow":
            await asyncio.sleep(60)
        elif path == "/stream":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for number in range(5):
                await send({"type": "http.response.body", "body": str(number).encode(), "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        elif path == "/tick":
            self.tick.set()
            await self.answer(send, 200, {})
        elif path == "/events":
            headers = [(b"content-type", b"text/event-stream")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            for number in range(3):
                event = f"data: {number}\\n\\n".encode()
                await send({"type": "http.response.body", "body": event, "more_body": True})
                await self.tick.wait()
                self.tick.clear()
            await send({"type": "http.response.body", "body": b""})
        elif path == "/openapi.json":
            await self.answer(send, 200, {"openapi": "3.1.0", "paths": {}, "servers": [{"url": scope["root_path"]}]})
        else:
            headers = {name.decode(): value.decode() for name, value in scope["headers"]}
            await self.answer(send, 200, {
                "path": scope["path"], "root": scope["root_path"], "query": scope["query_string"].decode(),
                "headers": headers, "bytes": len(body), "configuration": self.configuration,
                "environment": sorted(os.environ), "pid": os.getpid(), "scheme": scope["scheme"],
            })

    async def talk(self, scope, receive, send):
        await receive()
        if scope["path"].endswith("/refused"):
            await send({"type": "websocket.close"})
            return
        await send({"type": "websocket.accept", "subprotocol": next(iter(scope["subprotocols"]), None)})
        seen = {"path": scope["path"], "root": scope["root_path"], "query": scope["query_string"].decode()}
        await send({"type": "websocket.send", "text": json.dumps(seen)})
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                self.tick.set()
                return
            if message.get("text") == "close":
                await send({"type": "websocket.close", "code": 4001, "reason": "as told"})
                return
            if message.get("text") == "end":
                os._exit(9)
            await send({"type": "websocket.send", "text": message.get("text"), "bytes": message.get("bytes")})

    async def answer(self, send, status, content):
        headers = [(b"content-type", b"application/json"), (b"connection", b"x-hop"), (b"x-hop", b"1")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})


def fickle(configuration):
    """Does as it is told."""
    print("made with", configuration.get("token"))
    if configuration.get("fail") == "factory":
        raise RuntimeError(f"cannot be made with {configuration.get('token')}")
    if configuration.get("fail") == "exit":
        os._exit(3)
    return Application(configuration)


fickle.health_path = "/health"
fickle.api_version = "1.0"
fickle.configuration_schema = {
    "type": "object",
    "required": ["colour"],
    "additionalProperties": False,
    "properties": {
        "colour": {"type": "string", "minLength": 3},
        "token": {"type": "string", "writeOnly": True},
        "fail": {"enum": ["factory", "startup", "exit"]},
        "lamps": {"type": "array", "items": {"type": "object", "properties": {"watts": {"type": "integer"}}}},
    },
}
'''


def fickle_wheel(folder: Path, version: str = "1.0.0", source: str = FICKLE) -> Path:
    """The package that fails as it is told; one of its entry points cannot be loaded."""
    points = "[penstock.apis]\nfickle = acme_fickle:fickle\nbroken = acme_fickle:nothing\n"
    return wheel(folder, "acme-fickle", version, {"acme_fickle.py": source}, points)


def package_index(folder: Path) -> Path:
    """A folder with wheels of all packages."""
    fickle_wheel(folder)
    wheel(folder, "acme-plain", "1.0", {"acme_plain.py": ""})
    for example in ("penstock-api-sql", "penstock-api-proxy", "penstock-api-board"):
        copy = folder / f"{example}-source"
        shutil.copytree(EXAMPLES / example, copy)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=copy, check=True, capture_output=True)
    return folder


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
