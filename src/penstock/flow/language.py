"""The base of expression languages."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from penstock.flow.element import Element

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext
    from penstock.flow.exchange import Exchange


class Language(Element, frozen=True):
    """An expression in some language; one file in `languages/` each."""

    shorthand = "expression"

    id: Annotated[str, Meta(description="Name of the expression, for people.")] = ""

    async def evaluate(self, exchange: "Exchange", flow: "FlowContext") -> object:
        """The expression's value for this exchange."""
        raise NotImplementedError
