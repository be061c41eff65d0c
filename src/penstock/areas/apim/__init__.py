"""API management: what is published, who may call it, and the table that gateways serve by."""

from penstock.areas.apim.api_http import ApiOperations
from penstock.areas.apim.apis import ApiService
from penstock.areas.apim.catalog.http import CatalogOperations
from penstock.areas.apim.catalog.service import Catalog
from penstock.areas.apim.catalog.sources import DocumentSources
from penstock.areas.apim.keys.change import KeyChanges
from penstock.areas.apim.keys.http import KeyOperations
from penstock.areas.apim.keys.key import KeyPrints
from penstock.areas.apim.keys.renewal import KeyRenewals
from penstock.areas.apim.keys.sealed_keys import SealedKeys
from penstock.areas.apim.keys.service import KeyService
from penstock.areas.apim.kinds.api import ApiKind
from penstock.areas.apim.kinds.api_subscription import ApiSubscriptionKind
from penstock.areas.apim.kinds.api_version import ApiVersionKind
from penstock.areas.apim.local_gateway import LocalGateway
from penstock.areas.apim.register import Registers
from penstock.areas.apim.stored import API_SUBSCRIPTIONS, API_VERSIONS, APIS
from penstock.areas.apim.subscription_http import SubscriptionOperations
from penstock.areas.apim.subscriptions import SubscriptionService
from penstock.areas.apim.table.current import CurrentTable
from penstock.areas.apim.table.http import TableOperations
from penstock.areas.apim.table.quotas import Quotas
from penstock.areas.apim.table.source import TableSource
from penstock.areas.apim.table.surroundings import Surroundings
from penstock.areas.apim.table.verdicts import HostVerdicts
from penstock.areas.apim.upstreams import Upstreams
from penstock.areas.apim.usage.counts import UsageCounts
from penstock.areas.apim.usage.http import UsageOperations
from penstock.areas.apim.usage.overview import UsageOverview
from penstock.areas.apim.usage.standings import GatewayStandings
from penstock.areas.apim.usage.stored import API_USAGE, TAKEN
from penstock.areas.apim.usage.streams import GatewayStreams
from penstock.areas.apim.usage.taking import UsageTaking
from penstock.areas.apim.usage.worker import UsageReading
from penstock.areas.apim.version_http import VersionOperations
from penstock.areas.apim.versions import VersionService
from penstock.areas.apim.worker import GatewayTables, KeySealRenewal
from penstock.resource.area import Area
from penstock.resource.ports.api_usage import ApiUsage

AREA = Area(
    "apim",
    collections=(API_SUBSCRIPTIONS, API_VERSIONS, APIS, TAKEN),
    journals=(API_USAGE,),
    services=(
        ApiService,
        Catalog,
        CurrentTable,
        DocumentSources,
        GatewayStandings,
        GatewayStreams,
        HostVerdicts,
        KeyChanges,
        KeyPrints,
        KeyRenewals,
        KeyService,
        Quotas,
        Registers,
        SealedKeys,
        SubscriptionService,
        Surroundings,
        TableSource,
        Upstreams,
        UsageCounts,
        UsageOverview,
        UsageTaking,
        VersionService,
    ),
    handlers=(
        ApiOperations,
        CatalogOperations,
        KeyOperations,
        SubscriptionOperations,
        TableOperations,
        UsageOperations,
        VersionOperations,
    ),
    workers=(GatewayTables, KeySealRenewal, LocalGateway, UsageReading),
    kinds=(ApiKind, ApiSubscriptionKind, ApiVersionKind),
    provides=((ApiUsage, UsageCounts),),
)
