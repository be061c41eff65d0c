"""What callers ask of keys."""

import msgspec

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Wire


class KeyRenewal(Wire):
    """Overlap: how long the key before holds on, a day unless given, 90 days at most. Key: made when left out."""

    overlap: Duration = msgspec.field(default_factory=lambda: Duration(days=1))
    key: str | None = None
