"""The areas' policies, filled from the settings."""

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from penstock.agent.settings import machine_timezone
from penstock.apihost.packages import ApiPackages
from penstock.areas.agents.policy import AgentPolicy
from penstock.areas.apim.policy import LocalGatewayPolicy
from penstock.areas.apim.table.policy import TablePolicy
from penstock.areas.entitystore.policy import EntityStorePolicy
from penstock.areas.eventing.delivery.policy import DeliveryPolicy
from penstock.areas.eventsources.policy import EventSourcePolicy
from penstock.areas.identity.policy import IdentityPolicy
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.areas.triggers.policy import TriggerPolicy
from penstock.areas.webhooks.policy import WebhookPolicy
from penstock.connectors.packaged.process import PackageProcesses
from penstock.egress.address_guard import AddressGuard
from penstock.packages.environment import Environments
from penstock.packages.index import PackageIndex
from penstock.resource.operation import MIB
from penstock.server.settings import ServerSettings


def policies(settings: ServerSettings, servers: Sequence[str]) -> list[Any]:
    """One object per policy class that an area declares. servers: addresses of the bus as this server sees it."""
    return [
        AddressGuard(allow_private=settings.allow_private_addresses),
        AgentPolicy(
            ping_seconds=settings.ping_seconds,
            resync_seconds=settings.resync_seconds,
            server_address=settings.public_url.rstrip("/"),
            bus_servers=tuple(settings.nats_public_url or servers),
        ),
        DeliveryPolicy(
            retry_seconds=tuple(settings.delivery_retry_seconds),
            dead_letter_age=timedelta(days=settings.dead_letter_days),
        ),
        EntityStorePolicy(
            max_age=timedelta(days=settings.entity_store_days) or None,
            max_bytes=settings.entity_store_mebibytes * MIB or None,
        ),
        EventSourcePolicy(
            zone=ZoneInfo(machine_timezone(os.environ)),
            folders=tuple(Path(folder).absolute() for folder in settings.trigger_folders),
        ),
        IdentityPolicy(
            access_token=timedelta(minutes=settings.access_token_minutes),
            refresh_token=timedelta(days=settings.refresh_token_days),
        ),
        _packages(settings),
        ApiPackages(
            settings.folder / "api-packages",
            PackageIndex(settings.package_index, settings.package_folder, os.environ),
            os.environ,
        ),
        LocalGatewayPolicy(
            file=Path(settings.local_gateway_file) if settings.local_gateway_file else None, servers=tuple(servers)
        ),
        SchedulePolicy(zone=ZoneInfo(machine_timezone(os.environ))),
        TablePolicy(server_address=settings.address),
        TriggerPolicy(
            zone=ZoneInfo(machine_timezone(os.environ)), wait=timedelta(seconds=settings.web_trigger_seconds)
        ),
        WebhookPolicy(keep=timedelta(days=settings.webhook_keep_days), keep_requests=settings.webhook_keep_requests),
    ]


def _packages(settings: ServerSettings) -> PackageProcesses:
    index = PackageIndex(settings.package_index, settings.package_folder, os.environ)
    environments = Environments(settings.folder / "packages", index)
    return PackageProcesses(environments, os.environ, allow_private=settings.allow_private_addresses)
