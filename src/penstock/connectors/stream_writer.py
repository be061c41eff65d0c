"""Writing events to a stream of the platform that the endpoint makes when it is missing."""

from penstock.bus.bus import Bus
from penstock.bus.streams import Streams, StreamSpec
from penstock.connectors.failure import DeliveryFailed, Undeliverable
from penstock.kernel.errors import Invalid, TooLarge, Unavailable
from penstock.protocol.cloudevent import EVENT_MEDIA, CloudEvent


class StreamWriter:
    """Each event once, in JSON, under the stream's first subject."""

    def __init__(self, bus: Bus, spec: StreamSpec, patience: float = 5.0) -> None:
        """patience: seconds until a bus or stream that is away makes a write fail."""
        self._bus = bus
        self._spec = spec
        self._patience = patience
        self._made = False

    async def write(self, event: CloudEvent) -> None:
        """Returns when it is on disk. Raises DeliveryFailed, Undeliverable."""
        try:
            if not self._made:
                await Streams(self._bus).ensure(self._spec)
                self._made = True
            await self._bus.publish(
                self._spec.subjects[0],
                event.to_json(),
                headers={"content-type": EVENT_MEDIA},
                message_id=event.key,
                timeout=self._patience,
            )
        except Unavailable as error:
            self._made = False  # perhaps somebody deleted it
            raise DeliveryFailed(error.detail) from None
        except TooLarge as error:
            raise Undeliverable(error.detail) from None
        except Invalid as error:
            raise DeliveryFailed(f"the stream {self._spec.name} cannot be made: {error.detail}") from None
