"""Operations on deliveries: their state, dead letters, replays. None of them is in the specification's list."""

from collections.abc import Sequence
from datetime import datetime

from penstock.areas.eventing.delivery.dead_letter import DeadLetter, DeadLetterQueue
from penstock.areas.eventing.delivery.dead_letters import DeadLetters, Span
from penstock.areas.eventing.delivery.history import HistoryReplay, ReplayRequest, ReplayResult
from penstock.areas.eventing.delivery.state import DeliveryState, DeliveryStates
from penstock.kernel.actor import Actor, Role
from penstock.kernel.wire import Int64, Wire, encode
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation
from penstock.resource.page import PageSize, Skip, cut, page_size
from penstock.resource.parameter import Body, Filter

MOST = 10_000


class DeadLetterFilter(Wire):
    """A page of dead letters: those given up from FromDate to ToDate."""

    from_date: datetime | None = None
    to_date: datetime | None = None
    count: PageSize | None = None
    skip: Skip = 0


class DeadLetterRange(Wire):
    """Which dead letters: by sequence and by the time at which they were given up, all bounds included."""

    first_sequence: Int64 | None = None
    last_sequence: Int64 | None = None
    from_date: datetime | None = None
    to_date: datetime | None = None

    @property
    def span(self) -> Span:
        return Span(first=self.first_sequence or 1, last=self.last_sequence, since=self.from_date, until=self.to_date)


class DeadLetterCount(Wire):
    """How many dead letters were dealt with. Complete: whether that was all of the range; if not, ask again."""

    count: Int64
    complete: bool


class DeliveryOperations:
    """Deliveries and dead letters."""

    def __init__(self, states: DeliveryStates, dead_letters: DeadLetters, history: HistoryReplay) -> None:
        self._states = states
        self._dead_letters = dead_letters
        self._history = history

    @operation("GET", "/eventing/deliveries", Role.READER, beyond=True)
    async def states(self) -> Sequence[DeliveryState]:
        """List how the delivery of every channel goes, by name."""
        return await self._states.all()

    @operation("GET", "/eventing/deliveries/{channel}", Role.READER, beyond=True)
    async def state(self, channel: str) -> DeliveryState:
        """Get how the delivery of a channel goes."""
        return await self._states.of(channel)

    @operation("POST", "/eventing/deliveries/{channel}/enable", Role.OPERATOR, beyond=True)
    async def enable(self, channel: str, actor: Actor) -> DeliveryState:
        """Deliver a disabled channel again, beginning with the event that disabled it.

        A channel is disabled when an endpoint answers that it is gone (HTTP 410). Its events wait meanwhile.
        """
        return await self._states.enable(channel, actor)

    @operation("GET", "/eventing/deadletters", Role.READER, beyond=True)
    async def queues(self) -> Sequence[DeadLetterQueue]:
        """List the channels that have dead letters: events that they could not deliver."""
        return await self._dead_letters.queues()

    @operation("GET", "/eventing/deadletters/{channel}", Role.READER, beyond=True)
    async def list(self, channel: str, wanted: Filter[DeadLetterFilter]) -> Encoded[Sequence[DeadLetter]]:
        """List a channel's dead letters with the reasons, newest first."""
        size = page_size(wanted.count)
        found = await self._dead_letters.newest(
            channel, since=wanted.from_date, until=wanted.to_date, skip=wanted.skip, count=size + 1
        )
        page, following = cut(found, size, wanted.skip)
        return Encoded(encode(page), next_skip=following)

    @operation("GET", "/eventing/deadletters/{channel}/{sequence}", Role.READER, beyond=True)
    async def get(self, channel: str, sequence: int) -> DeadLetter:
        """Get a dead letter with its event."""
        return await self._dead_letters.get(channel, sequence)

    @operation("POST", "/eventing/deadletters/{channel}/replay", Role.OPERATOR, beyond=True)
    async def replay(self, channel: str, wanted: Filter[DeadLetterRange]) -> DeadLetterCount:
        """Deliver a range of a channel's dead letters again, all without a range; at most 10000 at a time.

        Only endpoints that do not have the event get it. What fails again becomes a new dead letter.
        """
        return _counted(await self._dead_letters.replay(channel, wanted.span, MOST))

    @operation("POST", "/eventing/deadletters/{channel}/{sequence}/replay", Role.OPERATOR, beyond=True)
    async def replay_one(self, channel: str, sequence: int) -> DeadLetterCount:
        """Deliver a dead letter again, to the endpoints that do not have the event."""
        return _counted(await self._dead_letters.replay(channel, await self._dead_letters.one(channel, sequence), 1))

    @operation("DELETE", "/eventing/deadletters/{channel}", Role.OPERATOR, beyond=True)
    async def discard(self, channel: str, wanted: Filter[DeadLetterRange]) -> DeadLetterCount:
        """Discard a range of a channel's dead letters, all without a range; at most 10000 at a time."""
        return _counted(await self._dead_letters.discard(channel, wanted.span, MOST))

    @operation("DELETE", "/eventing/deadletters/{channel}/{sequence}", Role.OPERATOR, beyond=True)
    async def discard_one(self, channel: str, sequence: int) -> DeadLetterCount:
        """Discard a dead letter."""
        return _counted(await self._dead_letters.discard(channel, await self._dead_letters.one(channel, sequence), 1))

    @operation("POST", "/eventing/replays", Role.OPERATOR, beyond=True)
    async def replay_history(self, wanted: Body[ReplayRequest]) -> ReplayResult:
        """Deliver events that were accepted in a range of time again to one channel, in their order.

        They keep their ids, and go to all endpoints of the channel. The call looks through Limit events; when the
        range has more, Complete is false, and AfterSequence goes on.
        """
        return await self._history.replay(wanted)


def _counted(count: int) -> DeadLetterCount:
    return DeadLetterCount(count=count, complete=count < MOST)
