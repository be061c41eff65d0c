"""Operations on configuration documents."""

from penstock.areas.configuration.model import KindDescription, PlannedChange
from penstock.areas.configuration.service import ConfigurationService
from penstock.kernel.actor import Actor, Role
from penstock.resource.operation import MIB, operation
from penstock.resource.parameter import Body

LARGEST = 16 * MIB


class ConfigurationOperations:
    """Documents come as one JSON string, or as they are with Content-Type application/yaml."""

    def __init__(self, service: ConfigurationService) -> None:
        self._service = service

    @operation("PUT", "/configuration", Role.ADMIN, status=202, limit=LARGEST)
    async def apply(self, configuration: Body[str], actor: Actor) -> None:
        """Apply configuration documents, all or none.

        An error names each bad field as `documents[1].spec.cron`, counted from 0, with its line in the text.
        """
        await self._service.apply(configuration, actor)

    # Whether a secret would change tells whether a guess of it is right, so this is for Admin too.
    @operation("POST", "/configuration/plan", Role.ADMIN, limit=LARGEST, beyond=True)
    async def plan(self, configuration: Body[str], actor: Actor) -> list[PlannedChange]:
        """Tell what applying configuration documents would do, and change nothing."""
        return await self._service.plan(configuration, actor)

    @operation("GET", "/configuration/kinds", Role.READER, beyond=True)
    async def kinds(self) -> list[KindDescription]:
        """List the kinds of configuration documents with the JSON Schema of their specs."""
        return self._service.kinds()
