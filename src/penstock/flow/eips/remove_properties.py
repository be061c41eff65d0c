"""`removeProperties`: takes properties from the exchange by a pattern."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.name_pattern import NamePattern
from penstock.flow.step import Step


class RemoveProperties(Step, frozen=True, kw_only=True):
    """Takes all properties from the exchange whose names match."""

    element = "removeProperties"
    shorthand = "pattern"

    pattern: Annotated[NamePattern, Meta(description="A name, a beginning like `a*`, or a regular expression.")]
    exclude_pattern: Annotated[NamePattern | None, Meta(description="Which of them stay.")] = None

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        for name in list(exchange.properties):
            if self.pattern.matches(name) and not (self.exclude_pattern and self.exclude_pattern.matches(name)):
                del exchange.properties[name]
