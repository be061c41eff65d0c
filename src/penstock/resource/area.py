"""What an area is made of. Each area folder exports one `AREA`; the server finds and wires it."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from penstock.resource.credential import CredentialCheck
from penstock.resource.kind import ConfigurationKind
from penstock.store.definition import Collection, Journal


class Worker(ABC):
    """Work that goes on beside requests: consumes from the bus or waits for due times, one service call each."""

    @abstractmethod
    async def run(self) -> None:
        """Runs until cancelled. An exception is logged and the worker started anew, with backoff."""


@dataclass(frozen=True)
class Area:
    """One area of the API.

    Classes are built once, their constructor arguments filled by type: store, bus, clock, settings,
    and services of this or, by a port from `resource.ports`, of another area.

    services: built for others to ask for. handlers: objects whose methods are operations.
    provides: port -> the service that implements it.
    """

    name: str
    collections: tuple[Collection[Any], ...] = ()
    journals: tuple[Journal[Any], ...] = ()
    services: tuple[type, ...] = ()
    handlers: tuple[type, ...] = ()
    workers: tuple[type[Worker], ...] = ()
    kinds: tuple[type[ConfigurationKind[Any]], ...] = ()
    credentials: tuple[type[CredentialCheck], ...] = ()
    provides: tuple[tuple[type, type], ...] = ()


class Stopping(asyncio.Event):
    """Set when the server begins to stop; answers that go on by themselves, such as event streams, end then."""
