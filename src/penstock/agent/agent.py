"""One agent: its parts put together, started in order and stopped in the other."""

import asyncio
import os
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, TypeVar

import structlog

from penstock.agent.access import Access
from penstock.agent.assigned.kind import AssignedKind, Surroundings
from penstock.agent.assigned.work import AssignedWork
from penstock.agent.capabilities import CUSTOM_FILE, Capabilities
from penstock.agent.database import Database
from penstock.agent.endpoints.endpoints import Endpoints
from penstock.agent.endpoints.front import EndpointFront
from penstock.agent.flows import Flows
from penstock.agent.folder import AgentFolder
from penstock.agent.identity import Identity
from penstock.agent.ledger import Ledger
from penstock.agent.link import Link
from penstock.agent.open_runs import OpenRuns
from penstock.agent.outbox import Outbox
from penstock.agent.pinger import Pinger
from penstock.agent.registration import identify
from penstock.agent.settings import AgentSettings
from penstock.agent.sources.event_sources import EventSources
from penstock.agent.tasks import Tasks
from penstock.agent.transfers.transfers import FileTransfers
from penstock.agent.uplink import Uplink
from penstock.agent.webjobs.web_jobs import WebJobs
from penstock.flow.commands.command import AGENT_MARKER, base_environment
from penstock.flow.commands.guard import Guard
from penstock.flow.commands.orphans import sweep
from penstock.flow.http.http_server import HttpServer
from penstock.kernel.clock import SystemClock
from penstock.kernel.ids import new_id

ASSIGNED: tuple[type[AssignedKind], ...] = (WebJobs, EventSources, FileTransfers, Endpoints)
"""The kinds of work besides flows."""
_FLUSH_SECONDS = 1.5
_MARKER_FILE = "run"
_DATABASE = "agent.db"
_MIB = 1024 * 1024
T = TypeVar("T")
_log = structlog.get_logger(__name__)


class Agent:
    """`run` is its life. Raises Refused, FolderInUse, DamagedIdentity, DamagedDatabase, Invalid before it is up."""

    def __init__(self, settings: AgentSettings) -> None:
        self._settings = settings
        self._clock = SystemClock()
        self._folder = AgentFolder(Path(settings.folder).expanduser())
        self._capabilities = Capabilities(settings.capabilities, settings.timezone, self._folder.path / CUSTOM_FILE)
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """Has `run` end its flows and return."""
        self._stop.set()

    async def run(self) -> None:
        """Returns after `stop`, when nothing that the agent started is left."""
        async with AsyncExitStack() as stack:
            self._folder.open()
            stack.callback(self._folder.close)
            marker = await self._mark()
            await stack.enter_async_context(Guard(AGENT_MARKER, marker))
            identity = await self._unless_stopped(
                identify(self._folder, self._settings, self._capabilities.current(), self._clock)
            )
            if identity is None:
                return
            database = Database(self._folder.path / _DATABASE)
            await database.open()
            stack.push_async_callback(database.close)
            link = await stack.enter_async_context(Link(self._settings.server or identity.server))
            await self._work(identity, database, link, marker)

    async def _mark(self) -> str:
        """A new mark for all that this run starts; what an earlier run has left is killed."""
        before = self._folder.read(_MARKER_FILE)
        if before is not None:
            killed = await asyncio.to_thread(sweep, AGENT_MARKER, before.decode())
            if killed:
                _log.warning("killed processes that an earlier run had left", processes=killed)
        marker = new_id().hex
        self._folder.write(_MARKER_FILE, marker.encode())
        return marker

    async def _work(self, identity: Identity, database: Database, link: Link, marker: str) -> None:
        outbox = Outbox(database, self._clock, self._settings.outbox_mb * _MIB)
        runs = OpenRuns(database, outbox, self._clock)
        ledger = Ledger(database, outbox, runs)
        if cut_off := await runs.end_all():
            _log.warning("runs ended with an earlier run of the agent", runs=cut_off)
        await ledger.open()
        access = Access(identity, self._folder, link, self._clock)
        uplink = Uplink(access)
        environment = {**self._environment(), AGENT_MARKER: marker}
        settings, folder = self._settings, self._folder.path
        server = HttpServer(
            settings.http_host, settings.http_port or None, settings.body_mb * _MIB, EndpointFront.of(settings)
        )
        parts = Surroundings(settings, folder, environment, database, outbox, uplink, access, self._clock, server)
        flows = Flows(parts, ledger, runs, identity.registered)
        assigned = AssignedWork(ASSIGNED, parts)
        endpoints = assigned.of(Endpoints)
        pinger = Pinger(settings, self._capabilities, access, uplink, flows.vitals, endpoints)
        endpoints.on_moved = flows.on_change = pinger.soon

        def changed(names: list[str]) -> None:
            if not names:
                pinger.soon()
                assigned.notice()
            flows.notice(names)

        async with Tasks() as carriers:
            carriers.start(outbox.write_lines(), outbox.deliver(uplink.report), uplink.serve(changed, assigned.notice))
            async with server, flows, assigned, Tasks() as workers:
                workers.start(flows.serve(), assigned.serve(), pinger.serve())
                await self._stop.wait()
                _log.info("stopping")
            await outbox.flush(_FLUSH_SECONDS)

    def _environment(self) -> dict[str, str]:
        """What commands see of the agent's environment."""
        passed = {name: os.environ[name] for name in self._settings.environment_pass if name in os.environ}
        return {**base_environment(os.environ), **passed}

    async def _unless_stopped(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What `work` returns; None when the agent is stopped before."""
        task = asyncio.ensure_future(work)
        stopping = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({task, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            task.cancel()
            stopping.cancel()
            await asyncio.wait({task, stopping})
