"""What the HTTP surface is compared with: a hand-written Starlette and msgspec application on the same store.

It checks the caller's key against the database and answers the same three requests. Started as a process of its own:
`python -m bench.bare_http FOLDER PORT`.
"""

import hashlib
import hmac
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from penstock.kernel.ids import new_id
from penstock.store.connect import store_for
from penstock.store.definition import Collection, Column, ColumnType
from penstock.store.write import Insert

KEY = "pk_bench"
_HASH = hashlib.sha256(KEY.encode()).hexdigest()


class Item(msgspec.Struct, rename="pascal"):
    name: str
    description: str | None = None
    value: str | None = None
    is_secret: bool = False
    e_tag: str | None = None


class Key(msgspec.Struct, rename="pascal"):
    hash: str


ITEMS = Collection("items", Item, (Column("name", lambda item: item.name, ColumnType.KEY, unique=True),))
KEYS = Collection("keys", Key, (Column("hash", lambda key: key.hash, ColumnType.TEXT, unique=True),))
_key = msgspec.json.Decoder(Key)
_item = msgspec.json.Decoder(Item)


class Bare:
    """The application's handlers."""

    def __init__(self, folder: str) -> None:
        self.store = store_for(f"sqlite:///{folder}/bare.db")

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        await self.store.open([ITEMS, KEYS], [])
        await self.store.commit([Insert(KEYS, new_id(), "1", Key(hash=_HASH), datetime.now(UTC))])
        for number in range(100):
            await self.insert(f"item-{number}")
        yield
        await self.store.close()

    async def allowed(self, request: Request) -> bool:
        given = hashlib.sha256(request.headers.get("x-api-key", "").encode()).hexdigest()
        found = await self.store.find(KEYS, "hash", given)
        return found is not None and hmac.compare_digest(_key.decode(found.body).hash, given)

    async def items(self, request: Request) -> Response:
        if not await self.allowed(request):
            return Response(status_code=401)
        bodies = [document.body for document in await self.store.list(ITEMS)]
        return Response(b"[" + b",".join(bodies) + b"]", media_type="application/json")

    async def item(self, request: Request) -> Response:
        if not await self.allowed(request):
            return Response(status_code=401)
        found = await self.store.find(ITEMS, "name", request.path_params["name"])
        return Response(found.body, media_type="application/json") if found else Response(status_code=404)

    async def create(self, request: Request) -> Response:
        if not await self.allowed(request):
            return Response(status_code=401)
        _item.decode(await request.body())
        await self.insert()
        return Response(b"{}", media_type="application/json")

    async def insert(self, name: str | None = None) -> None:
        id = new_id()
        body = Item(name=name or id.hex, description="An item", value="something")
        await self.store.commit([Insert(ITEMS, id, id.hex, body, datetime.now(UTC))])


def application(folder: str) -> Starlette:
    bare = Bare(folder)
    routes = [
        Route("/items", bare.items, methods=["GET"]),
        Route("/items", bare.create, methods=["POST"]),
        Route("/items/{name}", bare.item),
    ]
    return Starlette(routes=routes, lifespan=bare.lifespan)


if __name__ == "__main__":
    uvicorn.run(application(sys.argv[1]), port=int(sys.argv[2]), log_level="error", http="httptools", loop="uvloop")
