"""The way onto the bus of a gateway on the same machine, told once there is something to serve."""

import asyncio
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from penstock.areas.apim.policy import LocalGatewayPolicy
from penstock.areas.apim.register import Registers
from penstock.areas.apim.stored import API_VERSIONS
from penstock.bus.credentials import BusKeys
from penstock.gateway.access import BusAccess
from penstock.kernel.private_file import write_private
from penstock.resource.area import Worker
from penstock.resource.changes import Change, Changes

log = structlog.get_logger(__name__)

NAME = "local"
_LOOK_SECONDS = 5.0


class LocalGateway(Worker):
    """A gateway takes memory, so `penstock up` starts none before the first active version has made this file."""

    def __init__(self, policy: LocalGatewayPolicy, registers: Registers, keys: BusKeys, changes: Changes) -> None:
        self._policy = policy
        self._registers = registers
        self._keys = keys
        self._changes = changes
        self._changed = asyncio.Event()

    async def run(self) -> None:
        if self._policy.file is not None:
            await self._first_version()
            self._write(self._policy.file)
        await asyncio.get_running_loop().create_future()

    async def _first_version(self) -> None:
        """Returns once a version is active."""
        following = await self._changes.follow(API_VERSIONS.name, self._look)
        try:
            while not any(version.is_active for version in (await self._registers.current()).versions.values()):
                self._changed.clear()
                with suppress(TimeoutError):  # a notice may be lost
                    async with asyncio.timeout(_LOOK_SECONDS):
                        await self._changed.wait()
        finally:
            await following.stop()

    async def _look(self, change: Change) -> None:
        self._changed.set()

    def _write(self, file: Path) -> None:
        credential = self._keys.gateway_user(NAME, None)
        access = BusAccess(list(self._policy.servers), credential.jwt, credential.seed)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(file, msgspec.json.encode(access))
        log.info("gateway on this machine let onto the bus")
