"""`loop`: does steps again and again."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.conversion import NotConvertible, whole
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language, Use
from penstock.flow.pipeline import take_through
from penstock.flow.step import Step
from penstock.flow.values import text_of


class Loop(Step, frozen=True, kw_only=True):
    """Does its steps a number of times, or for as long as a condition holds.

    Sets the properties CamelLoopIndex, from 0, and CamelLoopSize.
    """

    element = "loop"

    expression: Annotated[Language, Meta(description="How often, or the condition.")]
    do_while: Annotated[bool, Meta(description="Goes on for as long as the expression holds.")] = False
    copy: Annotated[bool, Meta(description="Begins each time with the message as it was before the loop.")] = False
    steps: Annotated[tuple[Step, ...], Meta(description="The steps.")] = ()

    def verify(self) -> None:
        if self.do_while:
            self.expression.check(Use.CONDITION)

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        times = None if self.do_while else await self._times(exchange, flow)
        message = exchange.message() if self.copy else None
        if times is not None:
            exchange.properties["CamelLoopSize"] = times
        index = 0
        while await self._goes_on(index, times, exchange, flow):
            if message is not None:
                exchange.take(message)
            exchange.properties["CamelLoopIndex"] = index
            await take_through(self.steps, exchange, flow)
            if exchange.stopped:
                return
            index += 1

    async def _times(self, exchange: Exchange, flow: FlowContext) -> int:
        value = await self.expression.evaluate(exchange, flow)
        times = whole(value)
        if times is None:
            raise NotConvertible(f"'{text_of(value)[:100]}' is not a number of times")
        return times

    async def _goes_on(self, index: int, times: int | None, exchange: Exchange, flow: FlowContext) -> bool:
        return index < times if times is not None else await self.expression.matches(exchange, flow)
