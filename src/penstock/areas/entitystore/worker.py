"""Work beside the requests: the bucket is there before the first channel writes to it."""

import asyncio

from penstock.areas.entitystore.service import EntityStore
from penstock.resource.area import Worker


class BucketMaking(Worker):
    """Makes the bucket when the server starts."""

    def __init__(self, entities: EntityStore) -> None:
        self._entities = entities

    async def run(self) -> None:
        await self._entities.make()
        await asyncio.get_running_loop().create_future()
