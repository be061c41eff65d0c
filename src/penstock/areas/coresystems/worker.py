"""Work beside the requests: sealing secrets anew after the master key was changed."""

import asyncio

from penstock.areas.coresystems.service import CoreSystemService
from penstock.resource.area import Worker


class CoreSystemSealRenewal(Worker):
    """Looks once, when the server starts."""

    def __init__(self, service: CoreSystemService) -> None:
        self._service = service

    async def run(self) -> None:
        await self._service.renew_seals()
        await asyncio.get_running_loop().create_future()
