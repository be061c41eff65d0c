"""What runs flows, whichever engine it is: the native one, or Camel."""

from datetime import datetime, timedelta
from types import TracebackType
from typing import Protocol, Self

from penstock.flow.definition import FlowDefinition
from penstock.flow.running import FlowStatus


class Engine(Protocol):
    """Works within `async with`; everything that it started has ended when the block is left.

    A flow that cannot go on by itself is told to the listener (`flow_failed`) and stays until it is stopped.
    """

    @property
    def version(self) -> str:
        """As people are told it, like `penstock 0.1.0`."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def names(self) -> list[str]:
        """The flows that run, sorted."""
        ...

    def status(self, name: str) -> FlowStatus:
        """Raises NotFound for a flow that does not run."""
        ...

    async def start(self, definition: FlowDefinition, since: datetime | None = None) -> datetime:
        """Starts the flow, in place of the version that runs, which goes on when this one does not start.

        since: when a flow that does not run yet became due to run. Answers the moment from which it counts.
        Whatever it raises says why the flow does not start.
        """
        ...

    async def stop(self, name: str, grace: timedelta) -> None:
        """Stops the flow; exchanges in flight get `grace` to finish. Raises NotFound for one that does not run."""
        ...
