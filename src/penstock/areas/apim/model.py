"""APIs, their versions and subscriptions (specification 1, "API management resources")."""

from enum import IntEnum

import msgspec

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Map, Wire

MASK = "********"


class DecompressionMethods(IntEnum):
    """Which encodings of answers the gateway undoes."""

    NONE = 0
    GZIP = 1
    DEFLATE = 2
    BROTLI = 4
    ALL = -1


class ApiAuthentication(Wire):
    """Who may call a version.

    Type: null: each subscription that lists it; `none`: everybody; `apikey`, `basic`, `oidc`, or several of them with
    commas: subscriptions of these types only.
    """

    type: str | None = None
    parameters: Map | None = None


class ConnectionSettings(Wire):
    """How the gateway connects to where a version is served. UseCookies is true, ConnectTimeout 15 s when left out."""

    use_proxy: bool = False
    allow_auto_redirect: bool = False
    automatic_decompression: DecompressionMethods = DecompressionMethods.NONE
    use_cookies: bool = True
    connect_timeout: Duration = msgspec.field(default_factory=lambda: Duration(seconds=15))


class ApiVersion(Wire):
    """A version of an API. Key: what subscriptions list it by, `api/version`.

    Type says where its requests go, and what Parameters has: `address` (Url), `endpoint` (Endpoint, the route of an
    endpoint that agents host) or `trigger` (Trigger, the route of a web trigger or notebook endpoint). All take
    Timeout, Retries, HealthPath, Headers, Deprecated and Sunset. Variables: win over the platform's.
    """

    version: str | None = None
    api_name: str | None = None
    description: str | None = None
    is_active: bool = False
    type: str | None = None
    parameters: Map | None = None
    variables: Map | None = None
    authentication: ApiAuthentication | None = None
    connection: ConnectionSettings | None = None
    key: str | None = None


class ApiVersionDto(Wire):
    """A version of an API, as its API shows it. Parameters: a JSON object, as text."""

    version: str | None = None
    description: str | None = None
    is_active: bool = False
    type: str | None = None
    parameters: str | None = None
    authentication: ApiAuthentication | None = None
    connection: ConnectionSettings | None = None


class ApiSubscription(Wire):
    """Leave to call APIs. Apis: names of APIs, for all versions, or `api/version`.

    Type: `apikey`, `basic` (Parameters.UserName; the key is the password) or `oidc` (Parameters.Issuer, .Audience,
    .JwksUri, .Claim, .Value). All take RateLimit and Quota, {Calls, Period}, in Parameters. Key: `********`.
    """

    name: str | None = None
    description: str | None = None
    apis: list[str] | None = None
    type: str | None = None
    parameters: Map | None = None
    additional_headers: Map | None = None
    variables: Map | None = None
    key: str | None = None


class ApiSubscriptionDto(Wire):
    """A subscription, as lists show it. Parameters: a JSON object, as text. Key: `********`."""

    name: str | None = None
    description: str | None = None
    apis: list[str] | None = None
    type: str | None = None
    parameters: str | None = None
    key: str | None = None


class ApiDetailsDto(Wire):
    """An API with its versions and the subscriptions that list it, newest first."""

    versions: list[ApiVersionDto] | None = None
    subscriptions: list[ApiSubscription] | None = None
    name: str | None = None
    description: str | None = None
    prefix: str | None = None


class Api(Wire):
    """An API to be made or changed. Prefix: the path that its versions are below, its name unless given."""

    name: str | None = None
    description: str | None = None
    prefix: str | None = None
