"""Work beside the requests: sealing secrets anew after the master key was changed."""

import asyncio

from penstock.areas.variables.service import VariableService
from penstock.resource.area import Worker


class SealRenewal(Worker):
    """Looks once, when the server starts."""

    def __init__(self, service: VariableService) -> None:
        self._service = service

    async def run(self) -> None:
        await self._service.renew_seals()
        await asyncio.get_running_loop().create_future()
