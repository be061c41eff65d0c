"""The access log as a stream: single calls, so many a second and no more, without a promise that all arrive."""

from collections.abc import Sequence

import structlog

from penstock.gateway.link import Link
from penstock.gateway.logged_call import LoggedCall, RouteName, route_named
from penstock.kernel.clock import Clock
from penstock.protocol.gateway import GatewayCall
from penstock.protocol.subjects import CALLS

_log = structlog.get_logger(__name__)
_NOTHING = RouteName("", "")


class CallStream:
    """gateway: the name. rate: calls a second that are told; of more, those that failed come first."""

    def __init__(self, gateway: str, link: Link, clock: Clock, rate: int) -> None:
        self._gateway = gateway
        self._link = link
        self._clock = clock
        self._rate = rate
        self._since = clock.now()
        self._left = float(rate)

    async def tell(self, calls: Sequence[LoggedCall]) -> None:
        """Tells of some of the calls, in their order."""
        now = self._clock.now()
        self._left = min(self._rate, self._left + self._rate * max((now - self._since).total_seconds(), 0))
        self._since = now
        chosen = _chosen(calls, int(self._left))
        self._left -= len(chosen)
        if len(chosen) < len(calls):
            _log.debug("calls left out of the stream", calls=len(calls) - len(chosen))
        for call in chosen:
            await self._link.tell(CALLS, self._told(call))

    def _told(self, call: LoggedCall) -> GatewayCall:
        route = route_named(call.route) or _NOTHING
        return GatewayCall(
            gateway=self._gateway,
            time=call.time,
            api=route.api or None,
            version=route.version or None,
            subscription=route.subscription,
            method=call.method,
            path=call.path,
            status=call.status,
            milliseconds=call.ms,
            received=call.received,
            sent=call.sent,
            client=call.client,
            upstream=call.upstream,
            flags=None if call.flags == "-" else call.flags,
        )


def _chosen(calls: Sequence[LoggedCall], most: int) -> Sequence[LoggedCall]:
    if len(calls) <= most:
        return calls
    by_failure = sorted(range(len(calls)), key=lambda index: calls[index].status < 500)[:most]
    return [calls[index] for index in sorted(by_failure)]
