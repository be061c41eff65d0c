"""`log`: writes a line to the flow's log."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.listener import Level
from penstock.flow.simple import DynamicText
from penstock.flow.step import Step


class LogStep(Step, frozen=True, kw_only=True):
    """Writes a line of the flow's own."""

    element = "log"
    shorthand = "message"

    message: Annotated[DynamicText, Meta(description="The line; may hold simple functions.")]
    logging_level: Annotated[Level, Meta(description="Severity of the line.")] = Level.INFO
    log_name: Annotated[str, Meta(description="Name of the logger; the route's id when empty.")] = ""
    marker: Annotated[str, Meta(description="Put before the line, in brackets.")] = ""

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        line = await self.message.evaluate_text(exchange, flow)
        if self.marker:
            line = f"[{self.marker}] {line}"
        flow.log(self.logging_level, line, self.log_name or exchange.route, exchange.id)
