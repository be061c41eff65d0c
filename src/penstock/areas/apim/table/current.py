"""The table as it is to be served now."""

import asyncio
from collections.abc import Mapping

import structlog

from penstock.areas.apim.register import Register
from penstock.areas.apim.table.assembly import Assembled, Known, assemble
from penstock.areas.apim.table.parts import TableParts
from penstock.areas.apim.table.source import Changed, TableSource
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Unavailable
from penstock.protocol.gateway import TablePart, TableQuestion

log = structlog.get_logger(__name__)


class CurrentTable:
    """Made anew by one worker, asked by gateways."""

    def __init__(self, source: TableSource, clock: Clock) -> None:
        self._source = source
        self._clock = clock
        self._parts: TableParts | None = None
        self._made_of: tuple[Register, Known] | None = None
        self._assembled: Assembled | None = None

    @property
    def stamp(self) -> str | None:
        """None before there is a table."""
        return self._parts.stamp if self._parts is not None else None

    @property
    def problems(self) -> Mapping[str, str]:
        """What is published and cannot be served as it stands, by its name."""
        return self._assembled.problems if self._assembled is not None else {}

    async def refresh(self, changed: Changed | None = None) -> bool:
        """Whether the table differs from the one before. changed: see TableSource. Raises Unavailable."""
        made_of = await self._source.gather(changed)
        before = self._assembled
        if before is not None and made_of == self._made_of and self._clock.now() < before.holds_until:
            return False
        # A large table takes a while, in which requests are to be answered.
        assembled, parts = await asyncio.to_thread(self._made, *made_of)
        self._tell(assembled.problems)
        differs = parts.stamp != self.stamp
        self._parts, self._made_of, self._assembled = parts, made_of, assembled
        return differs

    def answer(self, question: TableQuestion) -> TablePart:
        """Raises Unavailable before there is a table, Invalid."""
        if self._parts is None:
            raise Unavailable("the table is not made yet")
        return self._parts.answer(question)

    def _made(self, register: Register, known: Known) -> tuple[Assembled, TableParts]:
        assembled = assemble(register, known, self._clock.now(), self._assembled)
        return assembled, TableParts.of(assembled.table)

    def _tell(self, problems: Mapping[str, str]) -> None:
        for name, problem in problems.items():
            if self.problems.get(name) != problem:
                log.warning("published API cannot be served", name=name, reason=problem)
