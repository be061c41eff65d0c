"""What a component or endpoint can use of the place where it runs."""

from dataclasses import dataclass

from penstock.bus.bus import Bus
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import Clock


@dataclass(frozen=True)
class Surroundings:
    """One channel's surroundings. channel: its name. guard: says which addresses may be connected to."""

    channel: str
    bus: Bus
    guard: AddressGuard
    clock: Clock
