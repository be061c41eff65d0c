"""`delay`: waits."""

import asyncio
from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.conversion import whole
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language
from penstock.flow.period import Period
from penstock.flow.step import Step
from penstock.flow.values import text_of


class Delay(Step, frozen=True, kw_only=True):
    """Waits for as long as an expression says, while other exchanges go on."""

    element = "delay"

    expression: Annotated[Language, Meta(description="How long: milliseconds, or a time like 5s.")]
    async_delayed: Annotated[bool, Meta(description="Taken as it is: waiting holds up nothing.")] = True

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        value = await self.expression.evaluate(exchange, flow)
        if value is None:
            return
        millis = whole(value)
        length = millis / 1000 if millis is not None else Period.parse(text_of(value)).total_seconds()
        await asyncio.sleep(max(length, 0))
