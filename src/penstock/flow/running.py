"""A flow that runs in the engine, through all its versions."""

import asyncio
import os
from datetime import datetime
from enum import StrEnum

import msgspec

from penstock.flow.definition import FlowDefinition
from penstock.flow.intake import Intake
from penstock.flow.statistics import Statistics
from penstock.protocol.status import IntegrationStatistics


class FlowState(StrEnum):
    """What a flow in the engine does."""

    RUNNING = "Running"
    STOPPING = "Stopping"


class FlowStatus(msgspec.Struct, frozen=True):
    """started: when the current version began. error: the last failure. pid: the process that it runs in."""

    name: str
    version: str
    state: FlowState
    started: datetime
    statistics: IntegrationStatistics
    error: str | None
    pid: int = 0


class RunningFlow:
    """Counts and exchanges in flight belong to the flow; `intakes` to its current version.

    change: held by whoever starts or stops it.
    """

    __slots__ = ("change", "definition", "error", "inflight", "intakes", "started", "state", "statistics")

    def __init__(self, definition: FlowDefinition, started: datetime) -> None:
        self.definition = definition
        self.started = started
        self.state = FlowState.RUNNING
        self.error: str | None = None
        self.statistics = Statistics(started)
        self.inflight: set[asyncio.Task[None]] = set()
        self.intakes: list[Intake] = []
        self.change = asyncio.Lock()

    def take_over(self, definition: FlowDefinition, intakes: list[Intake], now: datetime) -> None:
        """Makes this version the current one."""
        if self.intakes:
            self.statistics.reloaded()
        self.definition = definition
        self.intakes = intakes
        self.started = now

    def status(self, now: datetime) -> FlowStatus:
        return FlowStatus(
            name=self.definition.name,
            version=self.definition.version,
            state=self.state,
            started=self.started,
            statistics=self.statistics.snapshot(now),
            error=self.error,
            pid=os.getpid(),
        )
