"""How far the delivery of one event has come."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from penstock.bus.message import Delivered

T = TypeVar("T")
Key = tuple[int, float]


@dataclass
class Leg:
    """One endpoint's part. due: on the loop's clock, when it may be tried again. failed: it was given up."""

    tries: int
    due: float = 0.0
    error: str = ""
    delivered: bool = False
    failed: bool = False

    @property
    def settled(self) -> bool:
        return self.delivered or self.failed


@dataclass
class Progress:
    """tries: those before this process knew of the event; they count for every endpoint.

    legs: by the endpoint's key. kept: keys of endpoints that have the event, as those who come after us know.
    """

    tries: int = 0
    kept: Sequence[str] = ()
    legs: dict[str, Leg] = field(default_factory=dict)

    def leg(self, key: str) -> Leg:
        return self.legs.setdefault(key, Leg(self.tries))


class ProgressMemory:
    """What is known about events that are under way, or were done of late: a lost acknowledgement, or one that came
    too late, makes the bus hand out an event once more.

    A replica that dies takes its memory along; how often the bus has handed out the event then counts as tries, and
    which endpoints have it is kept elsewhere (see PartialDeliveries).
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: OrderedDict[Key, Progress] = OrderedDict()
        self._done: OrderedDict[Key, None] = OrderedDict()

    def knows(self, message: Delivered) -> bool:
        return (key := _key(message)) in self._open or key in self._done

    def of(self, message: Delivered, delivered: Sequence[str]) -> Progress | None:
        """The event's progress, None when it is done. delivered: keys of endpoints that had it in another life."""
        key = _key(message)
        if key in self._done:
            return None
        if key not in self._open:
            progress = Progress(message.tries - 1)
            for endpoint in delivered:
                progress.legs[endpoint] = Leg(0, delivered=True)
            _keep(self._open, key, progress, self._most)
        return self._open[key]

    def done(self, message: Delivered) -> None:
        key = _key(message)
        self._open.pop(key, None)
        _keep(self._done, key, None, self._most)


def _key(message: Delivered) -> Key:
    # The time, too: sequences begin again when a stream is made anew.
    return message.sequence, message.time.timestamp()


def _keep(memory: OrderedDict[Key, T], key: Key, value: T, most: int) -> None:
    memory[key] = value
    if len(memory) > most:
        memory.popitem(last=False)
