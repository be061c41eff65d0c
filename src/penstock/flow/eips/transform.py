"""`transform`: replaces the message's body."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language
from penstock.flow.step import Step


class Transform(Step, frozen=True, kw_only=True):
    """Replaces the body by an expression's value; the same as `setBody`."""

    element = "transform"

    expression: Annotated[Language, Meta(description="The new body.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        exchange.body = await self.expression.evaluate(exchange, flow)
