"""Answering what agents ask; each answer is signed for its question."""

from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

import msgspec

from penstock.bus.bus import Bus
from penstock.bus.message import Answer, Received
from penstock.bus.subscription import Subscription
from penstock.kernel.errors import Invalid
from penstock.kernel.wire import Wire, encode
from penstock.protocol import subjects
from penstock.protocol.signature import HEADER, NONCE, Signer, challenge
from penstock.store.store import decode

Q = TypeVar("Q", bound=Wire)

_AT_ONCE = 8


class AgentQuestions:
    """One replica answers each question."""

    def __init__(self, bus: Bus, signer: Signer) -> None:
        self._bus = bus
        self._signer = signer

    async def respond(self, what: str, query: type[Q], answer: Callable[[UUID, Q], Awaitable[Wire]]) -> Subscription:
        """Answers one kind of question until the subscription is stopped. answer: takes the agent that asks."""

        async def respond(request: Received) -> Answer:
            # The bus lets an agent ask on its own subjects only, so the subject says who asks.
            found = await answer(subjects.agent_of(request.subject), _read(request, query))
            body = encode(found)
            asked = challenge(request.subject, request.headers.get(NONCE, ""))
            return Answer(body, {HEADER: self._signer.sign(asked, body)})

        subject = subjects.ask("*", what)
        return await self._bus.respond(subject, respond, queue=subjects.SERVERS, concurrency=_AT_ONCE)


def _read(request: Received, query: type[Q]) -> Q:
    """The question; what a newer agent adds to it is passed over. Raises Invalid."""
    try:
        return decode(request.data, query)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid.one("", f"the question cannot be read: {error}") from None
