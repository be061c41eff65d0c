"""The nats-server of an installation on one machine: our child, restarted when it dies."""

import asyncio
import fcntl
import os
import socket
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import structlog

from penstock.bus.configuration import bracketed, server_configuration
from penstock.bus.credentials import BusKeys
from penstock.bus.server_process import ServerProcess, end_leftover
from penstock.kernel.errors import Unavailable

_log = structlog.get_logger(__name__)
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_STEADY_SECONDS = 30.0


class EmbeddedServer:
    """Runs nats-server on `host:port` with its streams in `folder`, and runs it again when it dies.

    port 0 takes a free port on the first start; the folder remembers it, so agents find the server
    after a restart. The server ends with this process, however that ends.
    """

    def __init__(self, folder: Path, keys: BusKeys, host: str = "127.0.0.1", port: int = 0) -> None:
        self._folder = folder
        self._keys = keys
        self._host = host
        self._port = port
        self._lock: IO[str] | None = None
        self._process: ServerProcess | None = None
        self._supervisor: asyncio.Task[None] | None = None
        self.restarts = 0

    @property
    def url(self) -> str:
        return f"nats://{bracketed(self._host)}:{self._port}"

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Returns when the server accepts connections.

        Raises Unavailable when another process uses the folder or the port, or nats-server fails.
        """
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = _lock(self._folder / "lock")
        try:
            await end_leftover(self._pid_file, self._configuration)
            self._port = self._port or self._remembered_port()
            _write_private(self._configuration, self._configuration_text())
            self._process = await ServerProcess.launch(self._configuration)
            await self._process.ready()
        except BaseException:
            await self.stop()
            raise
        self._supervisor = asyncio.create_task(self._supervise(self._process), name="nats-server supervisor")
        _log.info("nats-server started", url=self.url, pid=self.pid)

    async def stop(self) -> None:
        """Lets the server write what it has and end; after 5 s it is killed."""
        if self._supervisor is not None:
            self._supervisor.cancel()
            await asyncio.wait([self._supervisor])
        if self._process is not None:
            await self._process.end()
            self._process = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    async def _supervise(self, process: ServerProcess) -> None:
        now = asyncio.get_running_loop().time
        pause = _FIRST_PAUSE
        while True:
            started = now()
            await asyncio.wait([process.exited])
            if now() - started > _STEADY_SECONDS:
                pause = _FIRST_PAUSE
            _log.error("nats-server died and is started again", status=process.exited.result(), pause=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
            try:
                self._process = process = await ServerProcess.launch(self._configuration)
            except (OSError, Unavailable) as error:
                _log.error("nats-server cannot be started, trying again", error=str(error))
                continue
            self.restarts += 1

    @property
    def _configuration(self) -> Path:
        return (self._folder / "nats-server.conf").absolute()

    @property
    def _pid_file(self) -> Path:
        return (self._folder / "nats-server.pid").absolute()

    def _configuration_text(self) -> str:
        return server_configuration(
            self._keys,
            host=self._host,
            port=self._port,
            store=(self._folder / "streams").absolute(),
            pid_file=self._pid_file,
        )

    def _remembered_port(self) -> int:
        """The port of the last run, or a free one when there is none or it is taken."""
        file = self._folder / "port"
        text = file.read_bytes() if file.exists() else b""
        port = int(text) if text.isdigit() else 0
        if not 0 < port < 1 << 16 or not _is_free(self._host, port):
            port = _free_port(self._host)
            file.write_text(str(port))
        return port


def _lock(path: Path) -> IO[str]:
    """The folder's lock; the kernel frees it when this process ends."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise Unavailable(f"Another process uses the folder {path.parent}") from None
    return file


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


def _is_free(host: str, port: int) -> bool:
    with _socket_for(host) as probe:
        # Connections of the last run still linger on the port; nats-server listens despite them, so may we.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def _free_port(host: str) -> int:
    with _socket_for(host) as probe:
        try:
            probe.bind((host, 0))
        except OSError as error:
            raise Unavailable(f"nats-server cannot listen on {host}: {error.strerror}") from None
        return int(probe.getsockname()[1])


def _socket_for(host: str) -> socket.socket:
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
