"""Why an event could not be delivered."""

from penstock.kernel.errors import PenstockError


class DeliveryFailed(PenstockError):
    """This try failed; a later one may not. retry_after: seconds that the other side asks to wait."""

    code = "delivery-failed"
    title = "The event could not be delivered"

    def __init__(self, detail: str = "", retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class EventRefused(DeliveryFailed):
    """The other side is there and refuses this event; other events may pass."""

    code = "event-refused"
    title = "The event is refused"


class Undeliverable(EventRefused):
    """No later try can deliver this event."""

    code = "undeliverable"
    title = "The event can never be delivered"


class EndpointGone(DeliveryFailed):
    """The other side wants no more events, ever (HTTP 410)."""

    code = "endpoint-gone"
    title = "The endpoint is gone"
