"""What gateways serve, as the servers decided it, and what they report of it.

A gateway asks for the table with `TableQuestion` and gets it in parts, since a message on the bus has an upper size.
"""

from datetime import datetime
from enum import StrEnum
from itertools import zip_longest

import msgspec

from penstock.kernel.wire import Wire


class Access(StrEnum):
    """How a subscription shows who it is. `none`, of a version alone: nobody has to."""

    NONE = "none"
    API_KEY = "apikey"
    BASIC = "basic"
    OIDC = "oidc"


class GatewayHost(Wire):
    """host: a name or an IP address."""

    host: str
    port: int


class GatewayUpstream(Wire):
    """Where the requests of a version go. hosts: each can answer; none at the moment is an empty list.

    path: takes the place of the version's path, without a slash at its end. headers: added to each request, secret.
    health_path: asked to know whether a host is well; None: it is when it can be connected to.
    """

    hosts: list[GatewayHost]
    tls: bool = False
    path: str = ""
    headers: dict[str, str] = {}
    health_path: str | None = None
    retries: int = 0
    timeout_seconds: float = 60.0


class GatewayConnection(Wire):
    """ConnectionSettings of a version. decompression: as DecompressionMethods, -1 is all."""

    use_proxy: bool = False
    allow_auto_redirect: bool = False
    decompression: int = 0
    use_cookies: bool = True
    connect_timeout_seconds: float = 15.0


class GatewayVersion(Wire):
    """An active version of an API. path: `/{prefix}/{version}`, unique in a table.

    access: what its subscriptions may show; empty is whatever they are, `none` asks for no subscription.
    deprecated, sunset: told to callers in headers of the answer (RFC 9745, RFC 8594).
    """

    api: str
    version: str
    path: str
    upstream: GatewayUpstream
    connection: GatewayConnection
    access: list[Access] = []
    deprecated: datetime | None = None
    sunset: datetime | None = None


class GatewayKey(Wire):
    """expires: when a key that was renewed stops; None: it holds until the table says otherwise."""

    key: str
    expires: datetime | None = None


class GatewayOidc(Wire):
    """Tokens of an issuer for an audience, whose claim has the value; without a claim, all of them.

    jwks_uri: where the issuer's keys are; None: as its discovery document says.
    """

    issuer: str
    audience: str
    jwks_uri: str | None = None
    claim: str | None = None
    value: str | None = None


class GatewayRate(Wire):
    """At most so many calls in the time; a gateway counts its own."""

    calls: int
    seconds: int


class GatewaySubscription(Wire):
    """Who may call which versions, by the versions' paths.

    keys: of type apikey. user_name with keys as its passwords: of type basic. headers: added to each request.
    spent_until: its quota is used up until then.
    """

    name: str
    type: Access
    paths: list[str]
    keys: list[GatewayKey] = []
    user_name: str | None = None
    oidc: GatewayOidc | None = None
    headers: dict[str, str] = {}
    rate: GatewayRate | None = None
    spent_until: datetime | None = None


class GatewayTable(Wire):
    """All that a gateway serves."""

    versions: list[GatewayVersion] = []
    subscriptions: list[GatewaySubscription] = []


class TableQuestion(Wire):
    """known: the stamp of the table that the gateway has. part: which one, from 0."""

    known: str | None = None
    part: int = 0


class TablePart(Wire):
    """stamp: of the whole table; parts of different stamps do not belong together. parts: 0 when it is known already.

    body: a piece of the table's JSON, compressed with zlib as a whole.
    """

    stamp: str
    parts: int
    body: bytes = b""


BUCKETS_MS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000)
"""Upper bounds of the latency histogram; what takes longer is in one more bucket."""


class UsageEntry(Wire):
    """Calls of a subscription to a version; subscription is None for calls without one.

    statuses: calls by status. latency: calls by bucket, as many as BUCKETS_MS and one. milliseconds: of all calls
    together. received, sent: bytes of bodies.
    """

    api: str
    version: str
    subscription: str | None = None
    statuses: dict[int, int] = {}
    latency: list[int] = []
    milliseconds: int = 0
    received: int = 0
    sent: int = 0

    @property
    def calls(self) -> int:
        return sum(self.statuses.values())

    def add(self, other: "UsageEntry") -> None:
        """Counts what the other counts as well."""
        for status, calls in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + calls
        self.latency = [sum(pair) for pair in zip_longest(self.latency, other.latency, fillvalue=0)]
        self.milliseconds += other.milliseconds
        self.received += other.received
        self.sent += other.sent


class UsageReport(Wire):
    """What a gateway served between two times, which are in one hour.

    id: `<source>-<number>`, the same when it's sent again, so that it counts once. The reports of a source are sent in
    the order of their numbers.
    """

    id: str
    gateway: str
    since: datetime
    until: datetime
    entries: list[UsageEntry]


class GatewayCall(Wire):
    """One call, as the stream of calls shows it. api, version: None where nobody serves the path.

    path: without its query. flags: why the gateway answered by itself, in Envoy's letters.
    """

    gateway: str
    time: datetime
    api: str | None = None
    version: str | None = None
    subscription: str | None = None
    method: str | None = None
    path: str | None = None
    status: int
    milliseconds: int
    received: int = 0
    sent: int = 0
    client: str | None = None
    upstream: str | None = None
    flags: str | None = None


class GatewayStanding(Wire):
    """How a gateway stands. stamp: of the table it serves; problem: why it is not the latest, or not served at all."""

    gateway: str
    address: str
    stamp: str | None = None
    applied_at: datetime | None = None
    problem: str | None = None


table_decoder = msgspec.json.Decoder(GatewayTable)
