"""What installations may set about events."""

from datetime import timedelta

import msgspec


class EventingPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How events are kept and routed.

    keep: how long accepted events, and those in the streams of channels, are kept.
    resync: how old the view of subscriptions and definitions may grow on a replica that missed a notice.
    repair: how often the streams of channels are compared with them. orphan_after: one without a channel is deleted
    when it is older; a younger one may belong to a channel that is being made.
    """

    keep: timedelta = timedelta(days=30)
    resync: timedelta = timedelta(seconds=5)
    repair: timedelta = timedelta(minutes=10)
    orphan_after: timedelta = timedelta(minutes=10)
