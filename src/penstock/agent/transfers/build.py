"""Making a transfer from its item: variables replaced, folders and addresses checked."""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from penstock.agent.variables import VariableSource
from penstock.connectors.reference import names_in, replaced
from penstock.egress.address_guard import AddressGuard
from penstock.egress.local_folders import LocalFolders
from penstock.kernel.errors import Invalid, NotFound
from penstock.kernel.names import name_key
from penstock.protocol.transfer import TransferItem, TransferSide
from penstock.rclone.arguments import read_arguments
from penstock.rclone.backend import Backend, Backends, read_backends, text_of
from penstock.rclone.filters import read_filters
from penstock.rclone.remote import Remote
from penstock.rclone.transfer import Transfer, TransferCommand

_LOCAL = "local"
_ADDRESSES = ("host", "url", "endpoint", "server")
"""Options that say which machine a storage is on."""
_SHORTEST_SECRET = 3


class TransferBuilder:
    """guard: which machines may be reached. folders: below which files of the agent itself may be used."""

    def __init__(self, variables: VariableSource, guard: AddressGuard, folders: LocalFolders) -> None:
        self._variables = variables
        self._guard = guard
        self._folders = folders
        self._backends: asyncio.Task[Backends] | None = None

    async def build(self, item: TransferItem, *, force: bool) -> Transfer:
        """Raises Invalid, NotFound for a variable, Forbidden for a folder or address, Unavailable."""
        arguments, errors = read_arguments(item.args)
        rules, faults = read_filters(item.filters)
        if errors or faults:
            raise Invalid([*errors, *faults])
        values, secrets = await self._values(item)
        return Transfer(
            TransferCommand(item.command),
            await self._remote(item.source, values),
            await self._remote(item.destination, values),
            rules,
            arguments,
            force,
            tuple(secrets),
        )

    async def _values(self, item: TransferItem) -> tuple[Mapping[str, str], list[str]]:
        """The values of the variables that the item names, and those of them that are secret."""
        own = {name_key(name): str(value) for name, value in (item.variables or {}).items()}
        named = [item.source.variables, item.source.path, item.destination.variables, item.destination.path]
        values: dict[str, str] = {}
        secrets: list[str] = []
        for name in names_in(named):
            if name_key(name) in own:
                values[name_key(name)] = own[name_key(name)]
                continue
            variable = await self._variables.resolve(name)
            values[name_key(name)] = variable.value
            if variable.is_secret and len(variable.value) >= _SHORTEST_SECRET:
                secrets.append(variable.value)
        return values, secrets

    async def _remote(self, side: TransferSide, values: Mapping[str, str]) -> Remote:
        backend = await self._backend(side.type)
        variables: dict[str, Any] = replaced(side.variables, lambda name: values[name_key(name)])
        errors = backend.check(variables, side.name)
        if errors:
            raise Invalid(errors)
        path: str = replaced(side.path, lambda name: values[name_key(name)])
        if backend.name == _LOCAL:
            return Remote(backend, variables, str(await asyncio.to_thread(self._folders.check, path)))
        for option in _ADDRESSES:
            if variables.get(option):
                await self._check_address(text_of(variables[option]))
        return Remote(backend, variables, path)

    async def _check_address(self, address: str) -> None:
        """rclone connects by name: what the name means a moment later is beyond this check."""
        host = urlsplit(address if "//" in address else f"//{address}").hostname
        if host:
            try:
                await self._guard.resolve(host)
            except OSError:
                return  # the run tells that nothing is known of it

    async def _backend(self, type: str) -> Backend:
        if self._backends is None or (self._backends.done() and self._backends.exception() is not None):
            self._backends = asyncio.ensure_future(read_backends())
        found = (await asyncio.shield(self._backends)).find(type)
        if found is None:
            raise NotFound(f"storage type '{type}' is not known to this agent")
        return found
