"""`direct:NAME`: hands the exchange to another route of the same flow, and waits for it."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Consumer, Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.intake import Intake


class Direct(Consumer, Producer, frozen=True, kw_only=True):
    """Calls the route that begins with the same name, and goes on with what that makes of the exchange.

    Only routes of the same flow are reached: on Camel each flow is a process of its own.
    """

    element = "direct"
    path = "name"

    name: Annotated[str, Meta(description="Name of the endpoint.", min_length=1)]
    fail_if_no_consumers: Annotated[
        bool, Meta(description="In `to`: fails when no route begins with the name, else nothing happens.")
    ] = True

    async def start(self, intake: Intake) -> None:
        intake.flow.offer(self._address, intake.enter)

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        if self.fail_if_no_consumers or flow.offers(self._address):
            await flow.call(self._address, exchange)

    @property
    def _address(self) -> str:
        return f"direct:{self.name}"
