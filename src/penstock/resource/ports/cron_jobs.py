"""What has due times and is no Schedule."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from penstock.protocol.capability import Requirement


@dataclass(frozen=True)
class CronJob:
    """What has due times and is no Schedule. schedule: what its entries in the ledger are called."""

    name: str
    schedule: str
    flow: str
    cron: str
    requirements: Sequence[Requirement]
    changed: datetime


class CronJobs(Protocol):
    """Provided by `webjobs`."""

    async def cron_jobs(self) -> Sequence[CronJob]:
        """All there are."""
        ...
