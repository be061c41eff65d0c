"""`choice`: one of several lists of steps."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.branches import Otherwise, When
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.pipeline import take_through
from penstock.flow.step import Step


class Choice(Step, frozen=True, kw_only=True):
    """Does the steps of the first `when` whose condition holds, else those of `otherwise`."""

    element = "choice"

    when: Annotated[tuple[When, ...], Meta(description="A list of conditions, each with `steps`.")] = ()
    otherwise: Annotated[Otherwise | None, Meta(description="The steps when none holds.")] = None

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        for when in self.when:
            if await when.expression.matches(exchange, flow):
                await take_through(when.steps, exchange, flow)
                return
        if self.otherwise is not None and not self.otherwise.disabled:
            await take_through(self.otherwise.steps, exchange, flow)
