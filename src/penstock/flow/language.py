"""The base of expression languages."""

from enum import Enum
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from penstock.flow.element import Element
from penstock.flow.values import is_true

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext
    from penstock.flow.exchange import Exchange


class Use(Enum):
    """What an expression is for."""

    VALUE = "value"
    CONDITION = "condition"


class Language(Element, frozen=True):
    """An expression in some language; one file in `languages/` each."""

    shorthand = "expression"

    id: Annotated[str, Meta(description="Name of the expression, for people.")] = ""

    def check(self, use: Use) -> None:
        """Raises ValueError when the expression cannot be used so."""

    async def evaluate(self, exchange: "Exchange", flow: "FlowContext") -> object:
        """The expression's value for this exchange."""
        raise NotImplementedError

    async def matches(self, exchange: "Exchange", flow: "FlowContext") -> bool:
        """Whether the expression holds for this exchange."""
        return is_true(await self.evaluate(exchange, flow))


Condition = Annotated[Language, Use.CONDITION]
