"""How APIs, versions and subscriptions are stored."""

from datetime import datetime

import msgspec

from penstock.areas.apim.model import ApiAuthentication, ConnectionSettings
from penstock.areas.apim.subscription_parameters import PARAMETERS, BasicParameters, SubscriptionParameters
from penstock.areas.apim.upstream_parameters import UPSTREAMS, UpstreamParameters, UpstreamType
from penstock.kernel.entity import Entity
from penstock.kernel.validation import from_builtins
from penstock.kernel.wire import Map
from penstock.protocol.gateway import Access
from penstock.store.definition import Collection, Column, ColumnType


class StoredApi(Entity):
    """prefix: one or more segments of a path, without slashes around them."""

    name: str
    prefix: str
    description: str | None = None


class StoredVersion(Entity):
    """name: of its configuration document; `api/version` unless it was made by one."""

    name: str
    api_name: str
    version: str
    description: str | None = None
    is_active: bool = False
    type: UpstreamType
    parameters: Map = {}
    variables: Map = {}
    authentication: ApiAuthentication | None = None
    connection: ConnectionSettings = msgspec.field(default_factory=ConnectionSettings)

    @property
    def settings(self) -> UpstreamParameters:
        """Its Parameters, read."""
        return from_builtins(self.parameters, UPSTREAMS[self.type])

    @property
    def listed(self) -> str:
        """What subscriptions list it by."""
        return listed(self.api_name, self.version)


class StoredSubscription(Entity):
    """Its keys are sealed beside it, the newest first.

    key_prints: of the same keys; see keys.fingerprint. overlap_until: when the second key stops.
    """

    name: str
    description: str | None = None
    apis: list[str] = []
    type: Access
    parameters: Map = {}
    additional_headers: Map = {}
    variables: Map = {}
    key_prints: list[str] = []
    overlap_until: datetime | None = None

    @property
    def settings(self) -> SubscriptionParameters:
        """Its Parameters, read."""
        return from_builtins(self.parameters, PARAMETERS[self.type])

    @property
    def user_name(self) -> str | None:
        """Of type basic: who its callers say they are."""
        settings = self.settings if self.type is Access.BASIC else None
        return settings.user_name if isinstance(settings, BasicParameters) else None


def listed(api_name: str, version: str) -> str:
    """What subscriptions list a version by."""
    return f"{api_name}/{version}"


APIS: Collection[StoredApi] = Collection(
    "apis",
    StoredApi,
    (
        Column("name", lambda api: api.name, ColumnType.KEY, unique=True),
        Column("prefix", lambda api: api.prefix, ColumnType.KEY, unique=True),
    ),
)
API_VERSIONS: Collection[StoredVersion] = Collection(
    "api_versions",
    StoredVersion,
    (
        Column("name", lambda version: version.name, ColumnType.KEY, unique=True),
        Column("listed", lambda version: version.listed, ColumnType.KEY, unique=True),
    ),
)
API_SUBSCRIPTIONS: Collection[StoredSubscription] = Collection(
    "api_subscriptions",
    StoredSubscription,
    (
        Column("name", lambda subscription: subscription.name, ColumnType.KEY, unique=True),
        Column("key_print", lambda each: each.key_prints[0] if each.key_prints else None, unique=True),
        Column("user_name", lambda each: each.user_name, unique=True),
    ),
)
