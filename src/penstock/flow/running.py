"""A flow that runs in the engine, through all its versions."""

import asyncio
import os
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from penstock.flow.statistics import Statistics
from penstock.protocol.status import IntegrationStatistics

if TYPE_CHECKING:
    from penstock.flow.version import FlowVersion


class FlowState(StrEnum):
    """What a flow in the engine does."""

    RUNNING = "Running"
    STOPPING = "Stopping"
    CRASHED = "Crashed"


class FlowStatus(msgspec.Struct, frozen=True):
    """started: when the current version began. error: the last failure, or what a crash came from.

    pid: the process that it runs in.
    """

    name: str
    version: str
    state: FlowState
    started: datetime
    statistics: IntegrationStatistics
    error: str | None
    pid: int = 0


class RunningFlow:
    """Counts belong to the flow through all its versions; exchanges in flight to the version that took them.

    retiring: versions before `current` that still have exchanges. change: held by whoever starts or stops it.
    crash: why its consumer ended, None while all is well.
    """

    __slots__ = ("change", "crash", "current", "error", "name", "retiring", "started", "statistics", "stopping")

    def __init__(self, name: str, started: datetime) -> None:
        self.name = name
        self.started = started
        self.stopping = False
        self.error: str | None = None
        self.crash: str | None = None
        self.statistics = Statistics(started)
        self.current: FlowVersion | None = None
        self.retiring: dict[FlowVersion, asyncio.Task[None]] = {}
        self.change = asyncio.Lock()

    def take_over(self, version: "FlowVersion", now: datetime) -> None:
        """Makes this version the current one."""
        if self.current is not None:
            self.statistics.reloaded()
        self.current = version
        self.started = now
        self.crash = None

    @property
    def state(self) -> FlowState:
        if self.stopping:
            return FlowState.STOPPING
        return FlowState.CRASHED if self.crash is not None else FlowState.RUNNING

    def status(self, now: datetime) -> FlowStatus:
        return FlowStatus(
            name=self.name,
            version=self.current.definition.version if self.current is not None else "",
            state=self.state,
            started=self.started,
            statistics=self.statistics.snapshot(now),
            error=self.crash or self.error,
            pid=os.getpid(),
        )
