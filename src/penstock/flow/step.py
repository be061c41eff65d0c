"""The base of steps, which Camel calls EIPs: what a route does with an exchange, in order."""

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from penstock.flow.element import Element

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext
    from penstock.flow.exchange import Exchange


class Step(Element, frozen=True):
    """A step; one file in `eips/` each."""

    id: Annotated[str, Meta(description="Name of the step, for people.")] = ""
    description: Annotated[str, Meta(description="What the step is for.")] = ""
    note: Annotated[str, Meta(description="A remark.")] = ""
    disabled: Annotated[bool, Meta(description="Leaves the step out.")] = False

    @property
    def handles_errors(self) -> bool:
        """Whether errors that come out of the step are its own business: no error handler looks at them."""
        return False

    async def process(self, exchange: "Exchange", flow: "FlowContext") -> None:
        """Does the step. Whatever it raises makes the exchange a failed one, unless an error handler mends it."""
        raise NotImplementedError
