"""`filter`: does steps only for some exchanges."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Condition
from penstock.flow.pipeline import take_through
from penstock.flow.step import Step


class Filter(Step, frozen=True, kw_only=True):
    """Does its steps when the condition holds; the exchange goes on behind them in any case."""

    element = "filter"

    expression: Annotated[Condition, Meta(description="The condition.")]
    status_property_name: Annotated[str, Meta(description="Property that gets whether the condition held.")] = ""
    steps: Annotated[tuple[Step, ...], Meta(description="The steps.")] = ()

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        matched = await self.expression.matches(exchange, flow)
        if self.status_property_name:
            exchange.properties[self.status_property_name] = matched
        if matched:
            await take_through(self.steps, exchange, flow)
