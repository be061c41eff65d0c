"""The kinds of storage that files can be transferred from and to."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from penstock.kernel.errors import FieldError
from penstock.rclone.backend import Backends, read_backends


class TransferStorageTypes:
    """See StorageTypes. rclone is asked once, when that is first needed."""

    def __init__(self) -> None:
        self._backends: Backends | None = None
        self._turn = asyncio.Lock()

    async def secrets(self, type: str) -> Collection[str]:
        """See StorageTypes. Raises Unavailable when rclone is not there."""
        backend = (await self._known()).find(type)
        return {option.name for option in backend.options if option.is_secret} if backend is not None else ()

    async def errors(self, type: str, variables: Mapping[str, Any]) -> Sequence[FieldError]:
        """See StorageTypes. Raises Unavailable when rclone is not there."""
        known = await self._known()
        backend = known.find(type)
        return backend.check(variables) if backend is not None else known.check_type(type)

    async def _known(self) -> Backends:
        async with self._turn:
            if self._backends is None:
                self._backends = await read_backends()
            return self._backends
