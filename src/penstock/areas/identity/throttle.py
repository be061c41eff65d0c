"""Slows down the guessing of passwords."""

import ipaddress
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b

from penstock.areas.identity.failures import Failures
from penstock.areas.identity.policy import IdentityPolicy
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError, TooManyRequests, Unauthenticated
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_key
from penstock.resource.changes import Change, Changes

LOGIN_FAILURES = "login_failures"


@dataclass(frozen=True)
class Origin:
    """Where a login comes from, as keys of fixed size: the user name with the address, and the address alone."""

    pair: bytes
    address: bytes

    @classmethod
    def of(cls, username: str, address: str) -> "Origin":
        network = _network(address)
        return cls(_key(name_key(username), network), _key(network))


class LoginThrottle:
    """Counts failed logins per (user, address) and per address, and makes those that go on wait ever longer.

    Replicas tell each other of failures, so a guesser gains nothing by spreading over them, but for the milliseconds
    that a notice takes, or while the bus is away: then each replica counts for itself.
    """

    def __init__(self, policy: IdentityPolicy, clock: Clock, changes: Changes) -> None:
        self._clock = clock
        self._changes = changes
        self._pairs = Failures(policy.free_attempts, policy.longest_wait)
        self._addresses = Failures(policy.free_attempts_per_address, policy.longest_wait)
        self._replica = new_id().hex

    def wait(self, origin: Origin) -> float:
        """Seconds until the next attempt may be made; zero or less when it may be made now."""
        now = self._clock.now()
        return max(self._pairs.wait(origin.pair, now), self._addresses.wait(origin.address, now)).total_seconds()

    @contextmanager
    def attempt(self, origin: Origin) -> Iterator[None]:
        """Wraps one attempt. Unauthenticated raised inside is a failure. Raises TooManyRequests before it begins.

        The failure is counted beforehand and taken back on success, so that attempts at the same time count too.
        """
        wait = self.wait(origin)
        if wait > 0:
            raise TooManyRequests("too many failed logins, wait before the next", retry_after=math.ceil(wait))
        self._count(origin.pair, origin.address)
        try:
            yield
        except Unauthenticated:
            raise
        except PenstockError:
            self._pairs.take_back(origin.pair)
            self._addresses.take_back(origin.address)
            raise
        self._pairs.forget(origin.pair)
        self._addresses.take_back(origin.address)

    async def tell(self, origin: Origin) -> None:
        """Tells the other replicas of a failure."""
        await self._changes.tell(LOGIN_FAILURES, self._replica, origin.pair.hex(), origin.address.hex())

    async def heard(self, change: Change) -> None:
        """Counts a failure that a replica tells of."""
        replica, pair, address = change.names
        if replica != self._replica:
            self._count(bytes.fromhex(pair), bytes.fromhex(address))

    def _count(self, pair: bytes, address: bytes) -> None:
        now = self._clock.now()
        self._pairs.add(pair, now)
        self._addresses.add(address, now)


def _key(*parts: str) -> bytes:
    return blake2b("\n".join(parts).encode(), digest_size=16).digest()


def _network(address: str) -> str:
    """The address; of IPv6 the /64, which a single party usually has all of."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
