"""File transfers as Python calls."""

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import quote
from uuid import UUID

import msgspec

from penstock.client.client import Client
from penstock.client.model import Answered

_ERROR = 1


class Counted(Answered):
    """What a run has counted: files, and sizes in bytes; speed in bytes a second, eta in seconds."""

    bytes: int
    total_bytes: int
    transfers: int
    total_transfers: int
    speed: float
    errors: int
    eta: float | None = None


class AgentProgress(Answered):
    """How a transfer stands on one agent. order: the latest order to run that the agent has followed."""

    agent: str
    online: bool
    status: int
    message: str | None = None
    run: UUID | None = None
    order: UUID | None = None
    started: datetime | None = None
    stats: Counted | None = None

    def has_followed(self, order: UUID) -> bool:
        """Whether the run that the order brought about has ended."""
        return self.order == order and self.run is None

    @property
    def failed(self) -> bool:
        return self.status == _ERROR


class Ordered(Answered):
    """An order to run."""

    order: UUID


class Transfers:
    """The file transfers of a server."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def run(self, name: str, *, force: bool) -> UUID:
        """Orders a run now; force lifts the bound on what a sync may delete. Answers the order."""
        query = {"force": "true"} if force else None
        ordered: Ordered = self._client.call("POST", f"{_path(name)}/run", Ordered, query)
        return ordered.order

    def follow(self, name: str) -> Iterator[list[AgentProgress]]:
        """How the transfer stands on its agents, whenever that changes."""
        for event in self._client.events("GET", f"{_path(name)}/progress/live"):
            yield msgspec.json.decode(event, type=list[AgentProgress])


def _path(name: str) -> str:
    return f"/integrations/mfts/{quote(name, safe='')}"
