"""Events: published, routed to the channels that subscribe to them, delivered, and kept as history."""

from penstock.areas.eventing import delivery
from penstock.areas.eventing.channels import ChannelService, KnownChannels
from penstock.areas.eventing.definition_channels import DefinitionChannels
from penstock.areas.eventing.definitions import DefinitionService
from penstock.areas.eventing.history import EventHistory
from penstock.areas.eventing.history_entry import HISTORY
from penstock.areas.eventing.http_channels import ChannelOperations
from penstock.areas.eventing.http_definitions import DefinitionOperations
from penstock.areas.eventing.http_events import HistoryOperations, PublishOperations
from penstock.areas.eventing.http_subscriptions import SubscriptionOperations
from penstock.areas.eventing.kinds.event_channel import EventChannelKind
from penstock.areas.eventing.kinds.event_subscription import EventSubscriptionKind
from penstock.areas.eventing.publisher import Publisher
from penstock.areas.eventing.router import Router
from penstock.areas.eventing.routing_table import RoutingTable
from penstock.areas.eventing.stored import CHANNELS, DEFINITIONS, SUBSCRIPTIONS
from penstock.areas.eventing.streams import EventStreams
from penstock.areas.eventing.subscriptions import SubscriptionService
from penstock.areas.eventing.worker import ChannelUpkeep, EventRouting, HistoryWriting, TableRefresh
from penstock.resource.area import Area
from penstock.resource.ports.channels import Channels
from penstock.resource.ports.event_publisher import EventPublisher

AREA = Area(
    name="eventing",
    collections=(CHANNELS, SUBSCRIPTIONS, DEFINITIONS),
    journals=(HISTORY,),
    services=(
        *delivery.SERVICES,
        ChannelService,
        DefinitionChannels,
        DefinitionService,
        EventHistory,
        EventStreams,
        KnownChannels,
        Publisher,
        Router,
        RoutingTable,
        SubscriptionService,
    ),
    handlers=(
        *delivery.HANDLERS,
        ChannelOperations,
        DefinitionOperations,
        HistoryOperations,
        PublishOperations,
        SubscriptionOperations,
    ),
    workers=(*delivery.WORKERS, ChannelUpkeep, EventRouting, HistoryWriting, TableRefresh),
    kinds=(EventChannelKind, EventSubscriptionKind),
    provides=((Channels, KnownChannels), (EventPublisher, Publisher)),
)
