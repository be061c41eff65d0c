"""What both sides of the comparison share: variables, the flows' log, the order of events."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import httpx

from penstock.flow.listener import CommandRun, Level, LogEntry, Tick
from penstock.flow.variables import Variable
from penstock.kernel.errors import NotFound
from tests.differential.case import Case
from tests.differential.outcome import Answer, prepare, send

_SETTLED_SECONDS = 0.7
_PATIENCE_SECONDS = 40.0


class FlowLog:
    """Lines by the route that logged them."""

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}
        self.all: list[LogEntry] = []

    async def ticks(self, ticks: Sequence[Tick]) -> None: ...

    async def run_started(self, run: CommandRun) -> None: ...

    async def run_finished(self, run: CommandRun) -> None: ...

    def flow_failed(self, flow: str, version: str, reason: str) -> None: ...

    def log(self, entry: LogEntry) -> None:
        self.all.append(entry)
        if entry.exception_type is None and entry.level in (Level.INFO, Level.WARN):
            self.lines.setdefault(entry.logger, []).append(entry.message)

    def of(self, case: Case) -> list[str]:
        """What the routes of the case logged; their names begin with its name."""
        found = [line for name, lines in self.lines.items() if _belongs(name, case) for line in lines]
        return sorted(found) if case.unordered else found


def variables(folder: Path, values: dict[str, str]):  # type: ignore[no-untyped-def]
    """Answers the variables of the flows. FOLDER: where the files of all cases are."""
    known = {"FOLDER": str(folder), "GREETING": "hello", "BRACES": "a {{b}} ${c}", "SECRET": "f7c2e1", **values}

    async def resolve(name: str) -> Variable:
        if name not in known:
            raise NotFound.of("variable", name)
        return Variable(known[name], is_secret=name == "SECRET")

    return resolve


def prepare_all(folder: Path, cases: Sequence[Case]) -> None:
    for case in cases:
        prepare(folder, case)


async def send_all(address: str, cases: Sequence[Case], log: FlowLog) -> dict[str, list[Answer]]:
    """Sends to every flow what is to be sent, in order, and waits until nothing more happens."""
    answers: dict[str, list[Answer]] = {}
    async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
        for case in cases:
            answers[case.name] = [await send(client, address, case, request) for request in case.send]
    await _settle(log)
    return answers


async def _settle(log: FlowLog) -> None:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        seen = -1
        while seen != len(log.all):
            seen = len(log.all)
            await asyncio.sleep(_SETTLED_SECONDS)


def _belongs(logger: str, case: Case) -> bool:
    return logger == case.name or logger.startswith(f"{case.name}.")
