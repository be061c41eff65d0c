"""Delivery: events leave the channels' streams for their endpoints, or become dead letters."""

from penstock.areas.eventing.delivery.channel_delivery import DeliveryParts
from penstock.areas.eventing.delivery.dead_letters import DeadLetters
from penstock.areas.eventing.delivery.history import HistoryReplay
from penstock.areas.eventing.delivery.http import DeliveryOperations
from penstock.areas.eventing.delivery.partial import PartialDeliveries
from penstock.areas.eventing.delivery.running_pipeline import Pipelines
from penstock.areas.eventing.delivery.state import DeliveryStates
from penstock.areas.eventing.delivery.worker import DeliveryWorker

SERVICES = (DeadLetters, DeliveryParts, DeliveryStates, HistoryReplay, PartialDeliveries, Pipelines)
HANDLERS = (DeliveryOperations,)
WORKERS = (DeliveryWorker,)
