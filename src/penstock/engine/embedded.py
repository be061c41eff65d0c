"""The engine of a server on the same machine: its child, started when it is first needed."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from penstock.bus.credentials import UserCredential
from penstock.engine.embedding import READY, Embedding
from penstock.engine.settings import PREFIX
from penstock.kernel.errors import Unavailable

_log = structlog.get_logger(__name__)
_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_PASSED = ("HOME", "LANG", "LANGUAGE", "LC_ALL", "PATH", "TMPDIR", "TZ", "USER", "XDG_RUNTIME_DIR")
_WITHOUT_SERVER = ("NATS_URL", "CREDENTIALS")


class EmbeddedEngine:
    """The engine ends with this process, however that ends, and by itself when nobody has needed it for long.

    environment: of this process; the engine gets its own settings of it, and nothing that is secret. credential: told
    to it through a pipe.
    """

    def __init__(
        self, environment: Mapping[str, str], folder: Path, servers: Sequence[str], credential: UserCredential
    ) -> None:
        self._environment = _environment(environment, folder)
        self._embedding = Embedding(list(servers), credential.jwt, credential.seed)
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """None while it does not run."""
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def ensure(self) -> None:
        """Returns when the engine takes requests. Raises Unavailable."""
        if self.pid is not None and not self._starting.locked():
            return
        async with self._starting:
            if self.pid is None:
                self._process = await self._start()

    async def close(self) -> None:
        """Ends the engine and what it runs."""
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            async with asyncio.timeout(_STOP_SECONDS):
                await process.wait()
        except TimeoutError:
            _log.warning("engine does not stop in time and is killed", pid=process.pid)
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "penstock.engine.program",
            "embedded",
            env=self._environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            async with asyncio.timeout(_START_SECONDS):
                process.stdin.write(msgspec.json.encode(self._embedding) + b"\n")
                said = await process.stdout.readline()
        except (OSError, TimeoutError):
            said = b""
        if said != READY:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            raise Unavailable("the engine does not start; the server's log tells why", retry_after=30)
        _log.info("engine started", pid=process.pid)
        return process


def _environment(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    passed = {name: environment[name] for name in _PASSED if name in environment}
    own = {
        name: value
        for name, value in environment.items()
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in _WITHOUT_SERVER
    }
    return {"PATH": os.defpath, f"{PREFIX}FOLDER": str(folder), **passed, **own}
