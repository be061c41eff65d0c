"""How much of their quotas subscriptions have used."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime, timedelta

from penstock.areas.apim.usage.stored import API_USAGE, UsageHour
from penstock.kernel.clock import Clock
from penstock.kernel.names import name_key
from penstock.store.store import Store, Where, decode

_PAGE = 2000
_MANY = 1000
_OPEN = timedelta(hours=2)
"""Hours into which new calls come as a rule; those before are looked at again only now and then."""
_AGAIN = timedelta(minutes=5)

_Key = tuple[str, datetime]


class UsageCounts:
    """Provides the port ApiUsage. Sums of hours that are over are kept in memory for a while."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._edge: datetime | None = None
        self._read_at: datetime | None = None
        self._past: dict[_Key, int] = {}

    async def calls(self, since: Mapping[str, datetime]) -> Mapping[str, int]:
        """As the port says. Times are cut to whole hours."""
        now = self._clock.now()
        edge = _hour(now) - _OPEN
        if self._edge != edge or self._read_at is None or now - self._read_at > _AGAIN:
            self._past.clear()
            self._edge, self._read_at = edge, now
        wanted = {name_key(name): _hour(begin) for name, begin in since.items()}
        await self._read_past(wanted, edge)
        recent = await self._sums({name: max(begin, edge) for name, begin in wanted.items()}, None)
        return {
            name: self._past.get((name_key(name), _hour(begin)), 0) + recent.get(name_key(name), 0)
            for name, begin in since.items()
        }

    async def _read_past(self, wanted: Mapping[str, datetime], edge: datetime) -> None:
        missing = {name: begin for name, begin in wanted.items() if begin < edge and (name, begin) not in self._past}
        found = await self._sums(missing, edge)
        for name, begin in missing.items():
            self._past[name, begin] = found.get(name, 0)

    async def _sums(self, wanted: Mapping[str, datetime], until: datetime | None) -> dict[str, int]:
        found: dict[str, int] = {}
        names = list(wanted)
        for start in range(0, len(names), _MANY):
            part = names[start : start + _MANY]
            first = min(wanted[name] for name in part)
            async for row in hours(self._store, [Where("subscription", "in", part)], first, until):
                name = name_key(row.entry.subscription or "")
                if row.hour >= wanted[name]:
                    found[name] = found.get(name, 0) + row.accepted
        return found


async def hours(
    store: Store, where: Sequence[Where], since: datetime, until: datetime | None
) -> AsyncIterator[UsageHour]:
    """All rows of a time, oldest first, however many there are."""
    skip = 0
    while True:
        page = await store.entries(
            API_USAGE, where, since=since, until=until, skip=skip, limit=_PAGE, oldest_first=True
        )
        for body in page:
            yield decode(body, UsageHour)
        if len(page) < _PAGE:
            return
        skip += _PAGE


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
