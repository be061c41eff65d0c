"""`pipeline`: groups steps."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.pipeline import take_through
from penstock.flow.step import Step


class Pipeline(Step, frozen=True, kw_only=True):
    """Does its steps one after the other, as if they stood in the route themselves."""

    element = "pipeline"

    steps: Annotated[tuple[Step, ...], Meta(description="The steps.")]

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        await take_through(self.steps, exchange, flow)
