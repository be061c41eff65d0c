"""Operations on mailboxes."""

from penstock.areas.mailbox.service import Mailboxes
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation


class MailboxHandlers:
    """A mailbox hands the events of channels to one user, who comes and asks."""

    def __init__(self, mailboxes: Mailboxes) -> None:
        self._mailboxes = mailboxes

    @operation("POST", "/mailbox/initialize", Role.READER)
    async def initialize_mailbox(self, channel_name: str, actor: Actor) -> str:
        """Open the caller's queue on the mailbox of a channel.

        From now on it gets what the channel's endpoint of type `mailbox` puts there. Doing it again changes nothing.
        A channel without such an endpoint is refused. Answers the name of the mailbox's stream. What nobody fetches is
        dropped after 30 days.
        """
        return await self._mailboxes.open(channel_name, actor)

    @operation("GET", "/mailbox", Role.READER, bodiless=frozenset({400}))
    async def read_mailbox(self, actor: Actor) -> Encoded[list[str]]:
        """Take up to 100 messages from the caller's queues: CloudEvents in JSON, oldest first in each channel.

        They are gone from the queues once the answer has been sent; a message whose answer broke off comes again.
        400 without a body before the first queue was opened.
        """
        return await self._mailboxes.take(actor)
