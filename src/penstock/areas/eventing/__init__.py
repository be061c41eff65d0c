"""Events: published, routed to the channels that subscribe to them, delivered, and kept as history."""

from penstock.areas.eventing.stored import CHANNELS, DEFINITIONS, SUBSCRIPTIONS
from penstock.resource.area import Area

AREA = Area(name="eventing", collections=(CHANNELS, SUBSCRIPTIONS, DEFINITIONS))
