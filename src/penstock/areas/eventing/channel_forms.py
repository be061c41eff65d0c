"""The forms in which the API takes channels, as the service wants them."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from penstock.areas.eventing.channels import WantedChannel
from penstock.areas.eventing.model import (
    ChannelComponent,
    CloudServiceBusDto,
    ComponentDto,
    HttpChannelDto,
    NewChannelDto,
)
from penstock.areas.eventing.pipeline import Pipeline
from penstock.connectors.registry import Family, registry
from penstock.kernel.errors import FieldError, Invalid, NotFound

HTTP = "http"
QUEUE = "amqp"
CLOUDS = ("azure", "cloud")
"""Words before `servicebus` in the path."""

_NOBODY = UUID(int=0)
_FIRST = "Endpoints[0]."


def simple_pipeline(kind: str, configuration: str | None) -> Pipeline:
    """One endpoint and nothing else."""
    return Pipeline((), [ChannelComponent(type=kind, json_configuration=configuration or "{}")])


def of_new_channel(new: NewChannelDto) -> WantedChannel:
    simple = not new.endpoints and registry().find(Family.ENDPOINT, new.type or "") is not None
    endpoints = simple_pipeline(new.type or "", new.configuration).endpoints if simple else _parts(new.endpoints)
    return WantedChannel(
        name=new.name,
        type=new.type,
        app_id=new.app_id,
        options=None if simple else new.configuration,
        pipeline=Pipeline(_parts(new.components), endpoints),
        simple=simple,
    )


def of_http_channel(new: HttpChannelDto) -> WantedChannel:
    configuration = {
        "url": new.endpoint,
        "username": new.basic_auth_username or None,
        "password": new.basic_auth_password or None,
    }
    return _simple(new.name, new.type, new.channel_id, HTTP, configuration)


def of_queue_channel(cloud: str, new: CloudServiceBusDto) -> WantedChannel:
    """Raises NotFound for another word than those known."""
    if cloud.lower() not in CLOUDS:
        raise NotFound(f"there is no service bus of '{cloud}', only of {' or '.join(CLOUDS)}")
    configuration = {"connectionString": new.connection_string, "queue": new.queuename}
    return _simple(new.name, new.type, new.channel_id, QUEUE, configuration)


def in_terms_of(error: Invalid, fields: Mapping[str, str]) -> Invalid:
    """The error with the fields of a channel's only endpoint under the names that the caller used for them."""
    return Invalid([FieldError(_renamed(each.field, fields), each.message) for each in error.errors])


HTTP_FIELDS = {
    "Configuration.url": "Endpoint",
    "Configuration.username": "BasicAuthUsername",
    "Configuration.password": "BasicAuthPassword",
}
QUEUE_FIELDS = {"Configuration.connectionString": "ConnectionString", "Configuration.queue": "Queuename"}


def _renamed(field: str, fields: Mapping[str, str]) -> str:
    own = field.removeprefix(_FIRST)
    return fields.get(own, own)


def _simple(name: str, type: str | None, id: UUID, kind: str, configuration: Mapping[str, Any]) -> WantedChannel:
    given = {field: value for field, value in configuration.items() if value is not None}
    return WantedChannel(
        id=None if id == _NOBODY else id,
        name=name,
        type=type or kind,
        pipeline=simple_pipeline(kind, msgspec.json.encode(given).decode()),
        simple=True,
    )


def _parts(parts: Sequence[ComponentDto] | None) -> Sequence[ChannelComponent]:
    return [
        ChannelComponent(
            type=part.type, version=part.version, json_configuration=part.configuration or "{}", position=part.position
        )
        for part in parts or ()
    ]
