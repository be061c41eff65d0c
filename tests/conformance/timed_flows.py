"""Flows for tests of the engine: ones that log when they are due, and ones whose start waits."""

import asyncio
from datetime import UTC, datetime, timedelta

import msgspec

from penstock.flow.component import Consumer
from penstock.flow.definition import FlowDefinition
from penstock.flow.intake import Intake
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.route import Route

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
NO_GRACE = timedelta()


def logging(name: str, cron: str, version: str = "1") -> FlowDefinition:
    """A flow that logs at each due time, without a process."""
    source = f"- from: {{uri: quartz, parameters: {{triggerName: a, cron: '{cron}'}}, steps: [log: '{version}']}}\n"
    return parse_flow(name, version, source)


def timer(options: str, *steps: str) -> str:
    return f"- from:\n    uri: timer:t?{options}\n    steps:\n" + "".join(f"    - {step}\n" for step in steps)


class Hesitating(Consumer, frozen=True):
    """A consumer whose start waits, and then may fail."""

    element = "hesitating"
    path = "name"
    go: asyncio.Event
    error: Exception | None

    async def start(self, intake: Intake) -> None:
        await self.go.wait()
        if self.error is not None:
            raise self.error


def hesitating(flow: FlowDefinition, go: asyncio.Event, error: Exception | None = None) -> FlowDefinition:
    """The flow with one more route, whose start waits."""
    route = Route("hesitating", Hesitating(go=go, error=error), ())
    return msgspec.structs.replace(flow, routes=(*flow.routes, route))
