"""Queues of mailboxes as stored."""

import hashlib
from uuid import UUID

from penstock.kernel.entity import Entity
from penstock.kernel.names import name_key
from penstock.store.definition import Collection, Column, ColumnType


class MailboxQueue(Entity):
    """One user's queue on the mailbox of one channel."""

    user: str
    channel: str
    channel_id: UUID

    @property
    def reader(self) -> str:
        """The queue's name on the bus, where names of users may not stand as they are."""
        owner = f"{self.channel_id}\n{name_key(self.user)}"
        return f"reader-{hashlib.sha256(owner.encode()).hexdigest()[:32]}"


MAILBOX_QUEUES: Collection[MailboxQueue] = Collection(
    "mailbox_queues",
    MailboxQueue,
    (
        Column("user", lambda queue: queue.user, ColumnType.KEY),
        Column("reader", lambda queue: queue.reader, unique=True),
    ),
)
