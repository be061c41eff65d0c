"""The configuration kind EventChannel."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

import msgspec

from penstock.areas.eventing.channel_forms import simple_pipeline
from penstock.areas.eventing.channels import ChannelService, WantedChannel
from penstock.areas.eventing.model import ChannelComponent
from penstock.areas.eventing.pipeline import Pipeline
from penstock.areas.eventing.stored import Channel, id_of_name
from penstock.areas.eventing.streams import EventStreams
from penstock.connectors.registry import Family, configuration_object, registry
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.wire import Int32
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec

_PART = re.compile(r"(Components|Endpoints)\[(\d+)\]\.(Type|Version|Configuration)(.*)")
_ONLY = "Endpoints[0].Configuration"
_OPTIONS = "Configuration."


class PartSpec(Spec):
    """A component or an endpoint."""

    type: Annotated[str, msgspec.Meta(description="Its kind, as the catalog of components lists it.")]
    version: Annotated[str | None, msgspec.Meta(description="Of the configuration's form; any when omitted.")] = None
    configuration: Annotated[
        dict[str, Any],
        msgspec.Meta(
            description="What the kind's schema describes. `{{var:NAME}}` in a text is replaced on delivery. Secrets "
            "are sealed and shown as a mask, which keeps the secret while the rest of the configuration stays."
        ),
    ] = {}
    position: Annotated[Int32 | None, msgspec.Meta(description="Order among the others; as listed when omitted.")] = (
        None
    )


class EventChannelSpec(Spec):
    """A pipeline: components change or drop each event, then all endpoints get what is left.

    Either `type` names an endpoint kind and `parameters` are its configuration, or `endpoints` lists endpoints.
    """

    type: Annotated[
        str | None, msgspec.Meta(description="An endpoint kind, or with `endpoints` a word of your own.")
    ] = None
    parameters: Annotated[
        dict[str, Any] | None, msgspec.Meta(description="Configuration of the one endpoint that `type` names.")
    ] = None
    components: Annotated[
        list[PartSpec], msgspec.Meta(description="What happens to each event before it is delivered.")
    ] = []
    endpoints: Annotated[list[PartSpec], msgspec.Meta(description="Where events go; each gets every event.")] = []
    parallel: Annotated[
        int, msgspec.Meta(ge=1, le=64, description="Deliveries at once. With more than one, the order is not kept.")
    ] = 1
    variables: Annotated[
        dict[str, str] | None,
        msgspec.Meta(description="Values for `{{var:NAME}}` in this channel, before variables of the same name."),
    ] = None
    app_id: Annotated[str | None, msgspec.Meta(description="Whom the channel belongs to; only shown.")] = None


class EventChannelKind(ConfigurationKind[EventChannelSpec]):
    """A channel: delivers the events that subscriptions bind to it. Makes the stream `eventchannel-<name>`; removing
    the channel removes its subscriptions and streams."""

    kind = "EventChannel"
    spec = EventChannelSpec

    def __init__(self, channels: ChannelService, streams: EventStreams) -> None:
        self._channels = channels
        self._streams = streams

    async def plan(self, metadata: Metadata, spec: EventChannelSpec, actor: Actor) -> Plan:
        before = await self._channels.resource.find("name", metadata.name)
        wanted = _wanted(metadata, spec, before)
        try:
            after, writes = await self._channels.plan(wanted, before, actor)
        except Invalid as error:
            raise Invalid([FieldError(_field(e.field, wanted.simple), e.message) for e in error.errors]) from None
        return Plan.of_put(
            _shown(before) if before is not None else None,
            _shown(after),
            writes,
            prepare=[partial(self._streams.ensure, after.name)],
            finish=[partial(self._channels.announce, after)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        channel = await self._channels.resource.find("name", metadata.name)
        if channel is None:
            return Plan("keep")
        return Plan(
            "remove",
            before=_shown(channel),
            writes=self._channels.plan_remove(channel, actor),
            finish=[partial(self._channels.finish_removal, channel, actor)],
        )


def _wanted(metadata: Metadata, spec: EventChannelSpec, before: Channel | None) -> WantedChannel:
    """Raises Invalid."""
    simple = not spec.endpoints and spec.type is not None
    if simple and registry().find(Family.ENDPOINT, spec.type or "") is None:
        known = ", ".join(each.kind.identifier for each in registry().all(Family.ENDPOINT))
        raise Invalid.one("spec.type", f"must be one of {known}, or stand beside endpoints")
    if spec.parameters is not None and not simple:
        raise Invalid.one("spec.parameters", "must only be given with a type and without endpoints")
    only = simple_pipeline(spec.type or "", _json(spec.parameters or {})).endpoints
    return WantedChannel(
        id=id_of_name(metadata.name),
        name=before.name if before is not None else metadata.name,
        type=spec.type,
        app_id=spec.app_id,
        options=_json({"parallel": spec.parallel}) if spec.parallel != 1 else None,
        pipeline=Pipeline(_parts(spec.components), only if simple else _parts(spec.endpoints)),
        simple=simple,
        description=metadata.description,
        variables=spec.variables,
    )


def _parts(parts: Sequence[PartSpec]) -> Sequence[ChannelComponent]:
    return [
        ChannelComponent(
            type=part.type,
            version=part.version,
            json_configuration=_json(part.configuration),
            position=part.position if part.position is not None else index,
        )
        for index, part in enumerate(parts)
    ]


def _field(field: str, simple: bool) -> str:
    """The field of the document for one of the channel's form."""
    if field == "Name":
        return "metadata.name"
    if simple and field.startswith(_ONLY):
        return f"spec.parameters{field.removeprefix(_ONLY)}"
    if part := _PART.fullmatch(field):
        family, index, name, rest = part.groups()
        return f"spec.{family.lower()}[{index}].{name.lower()}{rest}"
    return f"spec.{field.removeprefix(_OPTIONS)}"


def _shown(channel: Channel) -> EventChannelSpec:
    return EventChannelSpec(
        type=channel.type,
        parameters=channel.parameters,
        components=_shown_parts(channel.components),
        endpoints=[] if channel.parameters is not None else _shown_parts(channel.endpoints),
        parallel=channel.options.parallel,
        variables=channel.variables,
        app_id=channel.app_id,
    )


def _shown_parts(parts: Sequence[ChannelComponent]) -> list[PartSpec]:
    return [
        PartSpec(
            type=part.type or "",
            version=part.version,
            configuration=configuration_object(part.json_configuration),
            position=part.position,
        )
        for part in parts
    ]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
