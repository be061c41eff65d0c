"""`stop`: ends the exchange."""

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.step import Step


class Stop(Step, frozen=True, kw_only=True):
    """Ends the exchange here, as one that went well."""

    element = "stop"

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        exchange.stopped = True
