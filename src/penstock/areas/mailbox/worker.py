"""Work beside the requests: mailboxes go with their channels."""

from datetime import timedelta

from penstock.areas.mailbox.service import Mailboxes
from penstock.kernel.clock import Clock
from penstock.resource.area import Worker

_EVERY = timedelta(minutes=10)


class MailboxSweep(Worker):
    """Looks for mailboxes without a channel, on every replica."""

    def __init__(self, mailboxes: Mailboxes, clock: Clock) -> None:
        self._mailboxes = mailboxes
        self._clock = clock

    async def run(self) -> None:
        while True:
            await self._mailboxes.sweep()
            await self._clock.sleep_until(self._clock.now() + _EVERY)
