"""`timer`: an event at each due time."""

from datetime import UTC
from typing import Annotated, Any

from msgspec import Meta

from penstock.connectors.source import Finding, Findings, Position, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings


class TimerSource(SourceKind, frozen=True):
    """Sends an event at each due time of its frequency or cron expression (`penstock.timer.due`)."""

    identifier = "timer"
    requires_polling = True

    data: Annotated[
        Any, Meta(description="Data of the events, any JSON value. When left out: an object with the time as `Due`.")
    ] = None

    def origin(self) -> None:
        """It keeps no position."""

    async def poll(self, position: Position, surroundings: SourceSurroundings) -> Findings:
        due = surroundings.due.astimezone(UTC).isoformat().replace("+00:00", "Z")
        data = self.data if self.data is not None else {"Due": due}
        found = Finding(key=due, type="penstock.timer.due", data=data, time=surroundings.due)
        return Findings(found=[found], position=position)
