"""The base of components: where exchanges come from and where they go."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from penstock.flow.element import Element

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext
    from penstock.flow.exchange import Exchange
    from penstock.flow.intake import Intake

Stop = Callable[[], Awaitable[None]]


class Component(Element, frozen=True):
    """One endpoint of a component; one file in `components/` each.

    path: the option that follows the colon in the uri, as `timerName` in `timer:tick`.
    lacking: options of Camel's that this one does not have, where it hands on whatever it does not know.
    """

    path: ClassVar[str]
    lacking: ClassVar[frozenset[str]] = frozenset()


class Consumer(Component, frozen=True):
    """A component that can stand in `from`."""

    async def start(self, intake: "Intake") -> Stop | None:
        """Begins to hand exchanges to `intake`; answers how to stop that, None when alarms are all there is."""
        raise NotImplementedError


class Producer(Component, frozen=True):
    """A component that can stand in `to`."""

    async def send(self, exchange: "Exchange", flow: "FlowContext") -> None:
        """Delivers the exchange. Whatever it raises makes the exchange a failed one."""
        raise NotImplementedError
