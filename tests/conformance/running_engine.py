"""A flow engine on the machine's clock, with a listener that remembers."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, timedelta, tzinfo

from penstock.flow.commands.scheduled_command import scheduled_command
from penstock.flow.engine import EngineSettings, FlowEngine
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.surroundings import FlowSurroundings, Reach
from penstock.flow.variables import Variable
from penstock.kernel.clock import Clock, SystemClock
from penstock.kernel.errors import NotFound
from penstock.packages.environment import Environments
from tests.unit.flow_listener import RememberingListener

EVERY_SECOND = "* * * * * ?"
VARIABLES = {
    "GREETING": Variable("hello world"),
    "PASSWORD": Variable("s3cret-value", is_secret=True),
    "PERIOD": Variable("20ms"),
}


async def resolve(name: str) -> Variable:
    if name not in VARIABLES:
        raise NotFound.of("variable", name)
    return VARIABLES[name]


class RunningEngine:
    """An engine with what it told. marker: the agent run in the environment of its commands."""

    def __init__(
        self, engine: FlowEngine, listener: RememberingListener, marker: str, surroundings: FlowSurroundings
    ) -> None:
        self.engine = engine
        self.listener = listener
        self.marker = marker
        self.surroundings = surroundings

    async def start(self, name: str, source: str, version: str = "1") -> None:
        await self.engine.start(parse_flow(name, version, source))

    async def schedule(self, name: str, *command: str, cron: str = EVERY_SECOND) -> None:
        await self.start(name, scheduled_command(name, cron, command[0], command[1:]))

    async def run_once(self, *command: str, parameters: str = "") -> None:
        """Runs the command through a flow that fires once, and waits for the exchange's end."""
        args = "".join(f"            - {arg!r}\n" for arg in command[1:])
        await self.start(
            "once",
            "- from:\n    uri: timer:once?delay=0&repeatCount=1\n    steps:\n    - to:\n        uri: exec\n"
            f"        parameters:\n          executable: {command[0]!r}\n          exitValues: '0'\n{parameters}"
            f"          args:\n{args or '            []'}\n    - log: 'after ${{body}}'\n",
        )
        await self.settled("once")

    async def settled(self, name: str, exchanges: int = 1) -> None:
        """Waits until so many exchanges have ended."""
        await eventually(lambda: self.engine.status(name).statistics.exchanges_total >= exchanges)


@asynccontextmanager
async def running_engine(
    clock: Clock | None = None,
    zone: tzinfo = UTC,
    listener: RememberingListener | None = None,
    patience: timedelta = timedelta(seconds=2),
    reach: Reach | None = None,
    variables: Mapping[str, Variable] | None = None,
    grace: timedelta = timedelta(),
    environments: Environments | None = None,
) -> AsyncIterator[RunningEngine]:
    async def found(name: str) -> Variable:
        known = (variables or {}).get(name)
        return known if known is not None else await resolve(name)

    told = listener or RememberingListener()
    marker = f"test-{os.urandom(8).hex()}"
    settings = EngineSettings(agent_run=marker, patience=patience, grace=grace, environments=environments)
    async with (
        FlowSurroundings(reach or Reach()) as surroundings,
        FlowEngine(clock or SystemClock(), zone, told, found, settings, surroundings) as engine,
    ):
        yield RunningEngine(engine, told, marker, surroundings)


async def eventually(holds: Callable[[], bool], patience: float = 30) -> None:
    """Returns when the condition holds. Raises TimeoutError when it never does."""
    async with asyncio.timeout(patience):
        while not holds():
            await asyncio.sleep(0.01)
