"""`throwException`: lets the exchange fail."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.failures.errors import FlowError, lineage
from penstock.flow.failures.exceptions import ExceptionNames
from penstock.flow.simple import DynamicText
from penstock.flow.step import Step


class Thrown(FlowError):
    """The error that a flow asked for. java_names: what it counts as."""

    code = "thrown"
    title = "The flow threw an exception"

    def __init__(self, detail: str, java_names: tuple[str, ...]) -> None:
        super().__init__(detail)
        self.java_names = java_names


class ThrowException(Step, frozen=True, kw_only=True):
    """Lets the exchange fail with a message of the flow's own."""

    element = "throwException"

    exception_type: Annotated[ExceptionNames, Meta(description="Name of Java's class.")]
    message: Annotated[DynamicText, Meta(description="What went wrong; may hold simple functions.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        raise Thrown(await self.message.evaluate_text(exchange, flow), lineage(self.exception_type[0]))
