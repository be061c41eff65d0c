"""Operations on core systems."""

from collections.abc import Sequence

from penstock.areas.coresystems.model import CoreDto, CoreSystemDto, StorageDto
from penstock.areas.coresystems.service import CoreSystemService
from penstock.kernel.actor import Actor, Role
from penstock.protocol.core_system import CoreSystem2
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class CoreSystemOperations:
    """The systems that integrations connect. Secrets among their variables are never answered."""

    def __init__(self, service: CoreSystemService) -> None:
        self._service = service

    @operation("GET", "/integrations/coresystems", Role.READER)
    async def list(self) -> Sequence[CoreSystem2]:
        """List the core systems, newest first; secrets among their variables are `********`."""
        return await self._service.all()

    @operation("PUT", "/integrations/coresystems", Role.OPERATOR)
    async def save(self, system: Body[CoreSystem2], actor: Actor, if_match: IfMatch) -> CoreSystem2:
        """Make a core system, or replace the one of the same name.

        Variables are texts, numbers, true or false; `{{var:NAME}}` in a text is replaced where it is used. Values
        whose names look like secrets (password, token, key, ...), and addresses with a password in them, are sealed
        and answered as `********`. That mask keeps the secret as long as Type and the other variables stay.
        """
        return await self._service.save(system, actor, if_match)

    @operation("DELETE", "/integrations/coresystems", Role.OPERATOR)
    async def remove(self, system_name: str, actor: Actor, if_match: IfMatch) -> File:
        """Remove a core system."""
        await self._service.remove(system_name, actor, if_match)
        return File()

    @operation("GET", "/integrations/coresystems/storages", Role.READER)
    async def storages(self) -> Sequence[StorageDto]:
        """List the core systems of the category `storage`, newest first."""
        return await self._service.storages()

    @operation("GET", "/integrations/coresystems/core", Role.READER)
    async def cores(self) -> Sequence[CoreDto]:
        """List the core systems that are no storages, newest first."""
        return await self._service.cores()

    @operation("GET", "/integrations/coresystems/{core}", Role.READER)
    async def get(self, core: str) -> Encoded[CoreSystemDto]:
        """Get a core system. Its name is compared without case; Variables is a JSON object, secrets masked."""
        return await self._service.read(core)
