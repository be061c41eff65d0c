"""API management: what is published, who may call it, and the table that gateways serve by."""

from penstock.areas.apim.api_http import ApiOperations
from penstock.areas.apim.apis import ApiService
from penstock.areas.apim.keys.change import KeyChanges
from penstock.areas.apim.keys.http import KeyOperations
from penstock.areas.apim.keys.key import KeyPrints
from penstock.areas.apim.keys.sealed_keys import SealedKeys
from penstock.areas.apim.keys.service import KeyService
from penstock.areas.apim.register import Registers
from penstock.areas.apim.stored import API_SUBSCRIPTIONS, API_VERSIONS, APIS
from penstock.areas.apim.subscription_http import SubscriptionOperations
from penstock.areas.apim.subscriptions import SubscriptionService
from penstock.areas.apim.upstreams import Upstreams
from penstock.areas.apim.version_http import VersionOperations
from penstock.areas.apim.versions import VersionService
from penstock.resource.area import Area

AREA = Area(
    "apim",
    collections=(API_SUBSCRIPTIONS, API_VERSIONS, APIS),
    services=(
        ApiService,
        KeyChanges,
        KeyPrints,
        KeyService,
        Registers,
        SealedKeys,
        SubscriptionService,
        Upstreams,
        VersionService,
    ),
    handlers=(ApiOperations, KeyOperations, SubscriptionOperations, VersionOperations),
)
