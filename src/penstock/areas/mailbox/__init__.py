"""Mailboxes: events of channels, kept for each user until they come and ask."""

from penstock.areas.mailbox.http import MailboxHandlers
from penstock.areas.mailbox.model import MAILBOX_QUEUES
from penstock.areas.mailbox.service import Mailboxes
from penstock.areas.mailbox.worker import MailboxSweep
from penstock.resource.area import Area

AREA = Area(
    name="mailbox",
    collections=(MAILBOX_QUEUES,),
    services=(Mailboxes,),
    handlers=(MailboxHandlers,),
    workers=(MailboxSweep,),
)
