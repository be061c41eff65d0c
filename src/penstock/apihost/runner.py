"""The process of an API, run by the Python of its package's environment.

`describe PACKAGE` writes what the package brings. `host` reads what to host, writes whether it runs, and ends when
its standard input does. What the package prints goes to standard error.
"""

import asyncio
import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import distribution
from typing import Any, BinaryIO, Literal

import msgspec
import uvicorn
import uvloop

from penstock.apihost.definition import definitions
from penstock.apihost.digest import digest_of, is_pure
from penstock.apihost.message import Hosting, PackageDescription, Started

_MOST_MEMORY = 1 << 30  # bytes of data
_MOST_FILES = 4096
_PR_SET_PDEATHSIG = 1
_GRACE_SECONDS = 2
_KEPT_SECONDS = 3600  # a connection that waits; the platform ends those that it does not need


class _Refused(Exception):
    """The API cannot be hosted; the text says why."""


class _Startup:
    """Around the application: notes why its startup failed, which the server keeps to itself."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self.reason = "its startup failed"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self._application(scope, receive, send)
            return

        async def observed(message: Any) -> None:
            if message["type"] == "lifespan.startup.failed" and message.get("message"):
                self.reason = f"its startup failed: {_last_line(message['message'])}"
            await send(message)

        try:
            await self._application(scope, receive, observed)
        except Exception as error:
            self.reason = f"its startup failed: {type(error).__name__}: {error}"
            raise


class _Server(uvicorn.Server):
    """Ends with the platform's side of the pipe; signals keep their usual meaning."""

    def __init__(self, config: uvicorn.Config, startup: _Startup) -> None:
        super().__init__(config)
        self._startup = startup

    async def startup(self, sockets: Any = None) -> None:
        try:
            await super().startup(sockets)
        except SystemExit:  # its way to say that the application did not start
            raise _Refused(self._startup.reason) from None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _describe(package: str, answers: BinaryIO) -> None:
    installed = distribution(package)
    found, problems = definitions(installed)
    description = PackageDescription(
        version=installed.version,
        digest=digest_of(installed),
        pure=is_pure(installed),
        apis=[each.described for each in found],
        problems=problems,
    )
    _write(answers, description)


async def _host(hosting: Hosting, platform: BinaryIO, answers: BinaryIO) -> None:
    definition = _definition(hosting)
    application = _Startup(definition.factory(hosting.configuration))
    server = _Server(
        uvicorn.Config(
            application,
            uds=_short(hosting.socket),
            ws=_websockets(),
            root_path=hosting.root_path,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=True,
            forwarded_allow_ips="*",  # only the platform reaches the socket
            timeout_keep_alive=_KEPT_SECONDS,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        ),
        application,
    )
    _end_with(platform, server)
    serving = asyncio.create_task(server.serve())
    while not server.started and not serving.done():
        await asyncio.sleep(0.005)
    if server.started:
        _write(answers, Started(openapi_path=definition.openapi_path, health_path=definition.health_path))
    await serving


def _short(socket: str) -> str:
    """The path of a socket as this process may also call it: it may have 107 bytes, and the folder may lie deep."""
    folder, _, name = socket.rpartition("/")
    return f"/proc/self/fd/{os.open(folder, os.O_PATH | os.O_DIRECTORY)}/{name}"


def _websockets() -> Literal["auto", "none"]:
    """Which implementation of WebSockets is used: none where the package brings one of its own that is too old."""
    try:
        import_module("uvicorn.protocols.websockets.auto")
    except ImportError as error:
        sys.stderr.write(f"WebSockets cannot be served: {error}\n")
        return "none"
    return "auto"


def _definition(hosting: Hosting) -> Any:
    found, problems = definitions(distribution(hosting.package))
    for definition in found:
        if (definition.name.casefold(), definition.version) == (hosting.api.casefold(), hosting.version):
            return definition
    raise _Refused("; ".join([f"the package has no API {hosting.api} {hosting.version}", *problems]))


def _end_with(platform: BinaryIO, server: uvicorn.Server) -> None:
    """Has the server stop once the platform has closed the pipe."""

    def wait() -> None:
        platform.read()
        server.should_exit = True

    threading.Thread(target=wait, daemon=True).start()


def _write(answers: BinaryIO, message: msgspec.Struct) -> None:
    answers.write(msgspec.json.encode(message) + b"\n")
    answers.flush()


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


def main(arguments: list[str]) -> int:
    """Standard input and output are the platform's."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    most = min(_MOST_FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    platform = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    if arguments[0] == "describe":
        _describe(arguments[1], answers)
        return 0
    hosting = msgspec.json.decode(platform.readline(), type=Hosting)
    try:
        uvloop.run(_host(hosting, platform, answers))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the package's own code; the platform tells
        if not isinstance(error, _Refused):
            sys.excepthook(type(error), error, error.__traceback__)
        reason = str(error) if isinstance(error, _Refused) else f"{type(error).__name__}: {error}"
        _write(answers, Started(reason=reason))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
