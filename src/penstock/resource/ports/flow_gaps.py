"""Stretches of time in which a scheduled flow was nobody's work."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from penstock.kernel.entity import Entity
from penstock.store.write import Write


class FlowGap(Entity):
    """A stretch of time in which a scheduled flow, in one version and request, was no agent's work.

    begin: due times up to here are accounted for. end: due times after it are an agent's; None while it is open.
    reason: why nobody ran it, such as `no agent matched`.
    """

    flow: str
    schedule: str
    cron: str
    version: str
    reason: str
    begin: datetime
    end: datetime | None = None


class FlowGaps(Protocol):
    """Provided by `flows`: the due times that no agent accounts for, so that somebody else does.

    Together with what agents account for (`WorkItem.since`) the gaps leave no due time out: a gap ends at the
    moment from which on the first agent that the flow matches accounts for it.
    """

    async def gaps(self) -> Sequence[FlowGap]:
        """Those that are open, or ended and not accounted for."""
        ...

    def plan_accounted(self, gap: FlowGap, until: datetime) -> Sequence[Write]:
        """The writes that say that the gap's due times up to `until` are accounted for.

        Their commit is Stale when somebody else was quicker.
        """
        ...
