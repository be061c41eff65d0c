"""The base of event sources: where events come from."""

from typing import ClassVar

from penstock.connectors.kind import Kind


class SourceKind(Kind, frozen=True):
    """A kind of event source; one file in `sources/` each.

    requires_polling: it is asked again and again, by a frequency or a cron expression, instead of listening.
    """

    requires_polling: ClassVar[bool] = False
