"""`setHeader`: sets a header of the message."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language
from penstock.flow.simple import DynamicText
from penstock.flow.step import Step


class SetHeader(Step, frozen=True, kw_only=True):
    """Sets a header to an expression's value."""

    element = "setHeader"

    name: Annotated[DynamicText, Meta(description="Name of the header; may hold simple functions.")]
    expression: Annotated[Language, Meta(description="The header's value.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        name = await self.name.evaluate_text(exchange, flow)
        exchange.headers[name] = await self.expression.evaluate(exchange, flow)
