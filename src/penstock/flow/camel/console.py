"""What a Camel process publishes about itself: its developer console, on a loopback port below a secret path."""

from datetime import datetime
from typing import TypeVar

import httpx
import msgspec

from penstock.flow.statistics import age
from penstock.protocol.status import IntegrationStatistics

_SECONDS = 2.0
T = TypeVar("T")
_LARGEST = (1 << 31) - 1


class _Reload(msgspec.Struct, rename="camel"):
    reloaded: int = 0


class _Counts(msgspec.Struct, rename="camel"):
    load01: str = ""
    load05: str = ""
    load15: str = ""
    exchanges_throughput: str = ""
    exchanges_total: int = 0
    exchanges_failed: int = 0
    exchanges_inflight: int = 0
    mean_processing_time: int = 0
    max_processing_time: int = 0
    min_processing_time: int = 0
    last_processing_time: int = 0
    delta_processing_time: int = 0
    last_created_exchange_timestamp: int = 0
    last_completed_exchange_timestamp: int = 0
    last_failed_exchange_timestamp: int = 0
    reload: _Reload = msgspec.field(default_factory=_Reload)


class _Context(msgspec.Struct, rename="camel"):
    state: str = ""
    statistics: _Counts = msgspec.field(default_factory=_Counts)


class _ContextAnswer(msgspec.Struct):
    context: _Context


class _Endpoint(msgspec.Struct):
    path: str
    verbs: str = ""


class _Server(msgspec.Struct):
    endpoints: list[_Endpoint] = []


class _ServerAnswer(msgspec.Struct, rename={"server": "platform-http"}):
    server: _Server = msgspec.field(default_factory=_Server)


class Served(msgspec.Struct, frozen=True):
    """A path of HTTP that a process serves. methods: empty for all. prefix: whether longer paths are meant too."""

    path: str
    methods: frozenset[str]
    prefix: bool = False


class Console:
    """port, path: where the process listens. client: without proxies."""

    def __init__(self, client: httpx.AsyncClient, port: int, path: str) -> None:
        self._client = client
        self._address = f"http://127.0.0.1:{port}{path}/q/dev"

    async def statistics(self, now: datetime, reloaded: int) -> IntegrationStatistics | None:
        """The counts of all routes; None while nobody answers. reloaded: versions that took over from another."""
        answer = await self.read("context", _ContextAnswer)
        return _statistics(answer.context.statistics, now, reloaded) if answer is not None else None

    async def served(self) -> list[Served] | None:
        """The paths of HTTP that the routes serve; None while nobody answers."""
        answer = await self.read("platform-http", _ServerAnswer)
        if answer is None:
            return None
        return [Served(each.path, frozenset(each.verbs.split(",")) - {""}) for each in answer.server.endpoints]

    async def read(self, page: str, kind: type[T], seconds: float = _SECONDS) -> T | None:
        """A page of the console; None when nobody answers in time."""
        try:
            answer = await self._client.get(
                f"{self._address}/{page}", headers={"Accept": "application/json"}, timeout=seconds
            )
            return msgspec.json.decode(answer.content, type=kind)
        except (httpx.HTTPError, msgspec.DecodeError):
            return None


def _statistics(counts: _Counts, now: datetime, reloaded: int) -> IntegrationStatistics:
    finished = max(counts.last_completed_exchange_timestamp, counts.last_failed_exchange_timestamp)
    return IntegrationStatistics(
        load01=counts.load01 or "0.00",
        load05=counts.load05 or "0.00",
        load15=counts.load15 or "0.00",
        exchanges_throughput=counts.exchanges_throughput or "0.00",
        exchanges_total=min(counts.exchanges_total, _LARGEST),
        exchanges_failed=min(counts.exchanges_failed, _LARGEST),
        exchanges_inflight=counts.exchanges_inflight,
        reloaded=reloaded + counts.reload.reloaded,
        mean_processing_time=max(counts.mean_processing_time, 0),
        max_processing_time=counts.max_processing_time,
        min_processing_time=counts.min_processing_time,
        last_processing_time=counts.last_processing_time,
        delta_processing_time=counts.delta_processing_time,
        since_last_created_exchange=_since(counts.last_created_exchange_timestamp, now),
        since_last_completed_exchange=_since(finished, now),
    )


def _since(milliseconds: int, now: datetime) -> str | None:
    """Absent before the first exchange."""
    if milliseconds <= 0:
        return None
    return age(now - datetime.fromtimestamp(milliseconds / 1000, now.tzinfo))
