"""`setVariable`: sets a variable of the exchange."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language
from penstock.flow.simple import DynamicText
from penstock.flow.step import Step


class SetVariable(Step, frozen=True, kw_only=True):
    """Sets a variable of the exchange to an expression's value."""

    element = "setVariable"

    name: Annotated[DynamicText, Meta(description="Name of the variable; may hold simple functions.")]
    expression: Annotated[Language, Meta(description="The variable's value.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        name = await self.name.evaluate_text(exchange, flow)
        exchange.variables[name] = await self.expression.evaluate(exchange, flow)
