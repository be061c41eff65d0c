"""Work beside the requests: mailboxes go with their channels."""

from datetime import timedelta

from penstock.areas.mailbox.service import Mailboxes
from penstock.kernel.clock import Clock
from penstock.resource.repeated import Repeated

_EVERY = timedelta(minutes=10)


class MailboxSweep(Repeated):
    """Looks for mailboxes without a channel, on every replica."""

    def __init__(self, mailboxes: Mailboxes, clock: Clock) -> None:
        super().__init__(clock, _EVERY, mailboxes.sweep)
