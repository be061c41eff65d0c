"""What is done with channels: made, changed, disabled, removed, and their secrets kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec
import structlog

from penstock.areas.eventing.pipeline import PartSecrets, Pipeline
from penstock.areas.eventing.routing_table import RoutingTable
from penstock.areas.eventing.stored import CHANNELS, SUBSCRIPTIONS, Channel, ChannelOptions
from penstock.areas.eventing.streams import EventStreams
from penstock.connectors.registry import configuration_object, registry
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.actor import SYSTEM, Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NameTaken, NotFound
from penstock.kernel.ids import new_id
from penstock.kernel.names import name_errors
from penstock.kernel.validation import decode_json
from penstock.protocol.event_streams import LONGEST_CHANNEL, channel_stream
from penstock.resource.changes import Changes
from penstock.resource.ports.channels import KnownChannel
from penstock.resource.resource import Resource
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets
from penstock.store.store import Store, Where
from penstock.store.write import Write

log = structlog.get_logger(__name__)

_NO_SECRETS: PartSecrets = {}


@dataclass(frozen=True, kw_only=True)
class WantedChannel:
    """A channel as somebody wants it. pipeline: with secrets in the clear, or masked where they shall stay.

    simple: its one endpoint is of the kind `type`. options: JSON of ChannelOptions. id: chosen by the caller.
    """

    name: str
    pipeline: Pipeline
    id: UUID | None = None
    type: str | None = None
    app_id: str | None = None
    options: str | None = None
    simple: bool = False
    description: str | None = None
    variables: dict[str, str] | None = None


class ChannelService:
    """Channels, each with a stream of what it has to deliver. Secrets are sealed beside the channel."""

    def __init__(
        self,
        store: Store,
        changes: Changes,
        clock: Clock,
        secrets: Secrets,
        streams: EventStreams,
        guard: AddressGuard,
        table: RoutingTable,
    ) -> None:
        self._store = store
        self._changes = changes
        self._clock = clock
        self._streams = streams
        self._guard = guard
        self._table = table
        self._registry = registry()
        self._sealed = Sealed(CHANNELS, store, secrets, clock)
        self.resource = Resource(CHANNELS, store, changes, clock, kind="channel")
        self._subscriptions = Resource(SUBSCRIPTIONS, store, changes, clock, kind="subscription", label="key")

    async def create(self, wanted: WantedChannel, actor: Actor) -> Channel:
        """Makes the channel and its stream. Raises Invalid, NameTaken."""
        channel, writes = await self.plan(wanted, None, actor)
        if await self.resource.find("name", wanted.name) is not None:
            raise NameTaken(f"there is a channel '{wanted.name}' already")
        await self._streams.ensure(channel.name)
        await self._store.commit(writes)
        await self.announce(channel)
        return channel

    async def plan(
        self, wanted: WantedChannel, before: Channel | None, actor: Actor
    ) -> tuple[Channel, Sequence[Write]]:
        """The channel as it will be, and the writes that make it so; none when nothing differs.

        Its stream must exist before they are committed. Raises Invalid, fields named as in NewChannelDto.
        """
        secrets = await self._secrets_of(before) if before else _NO_SECRETS
        # A secret must not follow a part that now sends it elsewhere.
        kept = wanted.pipeline.unchanged(before.pipeline) if before else set()
        opened = wanted.pipeline.opened(self._registry, {place: secrets[place] for place in kept & secrets.keys()})
        await self._check(wanted, opened)
        closed, wanted_secrets = opened.normal(self._registry).closed(self._registry)
        channel = _described(wanted, closed, before)
        if before is None:
            sealed = self._seal(channel.key, wanted_secrets) if wanted_secrets else None
            return self.resource.plan_create(channel, actor, sealed)
        if channel == before and wanted_secrets == secrets:
            return before, ()
        return self.resource.plan_replace(channel, before, actor, sealed=self._seal(channel.key, wanted_secrets))

    def plan_remove(self, channel: Channel, actor: Actor, if_match: str | None = None) -> Sequence[Write]:
        """The writes that remove the channel; `finish_removal` follows them."""
        return self.resource.plan_delete(channel, actor, if_match)

    async def finish_removal(self, channel: Channel, actor: Actor) -> None:
        """Removes the subscriptions and streams of a channel that is removed: none can come any more."""
        await self._drop_subscriptions([Where("channel", "=", str(channel.key))], actor)
        await self.announce(channel)
        await self._changes.tell(SUBSCRIPTIONS.name)
        await self._streams.remove(channel.name)

    async def remove(self, channel: Channel, actor: Actor, if_match: str | None = None) -> None:
        """Removes the channel with its subscriptions and all that it had to deliver. Raises NotFound, Stale."""
        await self._store.commit(self.plan_remove(channel, actor, if_match))
        await self.finish_removal(channel, actor)

    async def drop_orphans(self) -> None:
        """Removes subscriptions whose channels are gone, should a process have died in between."""
        channels = {str(id) for (id,) in await self._store.values(CHANNELS, ["id"])}
        rows = await self._store.values(SUBSCRIPTIONS, ["id", "channel"])
        for id, channel in rows:
            # A subscription may be younger than the list of channels, with its channel.
            if channel not in channels and await self._store.get(CHANNELS, UUID(str(channel))) is None:
                await self._drop_subscriptions([Where("id", "=", id)], SYSTEM)

    async def announce(self, channel: Channel) -> None:
        """Tells of a change, once it is committed."""
        self._table.invalidate(CHANNELS.name, SUBSCRIPTIONS.name)
        await self._changes.tell(CHANNELS.name, channel.name)

    async def opened(self, channel: Channel) -> Pipeline:
        """Its parts with their secrets in the clear. Raises SecretUnreadable."""
        return channel.pipeline.opened(self._registry, await self._secrets_of(channel))

    async def disable(self, id: UUID, reason: str) -> Channel:
        """Ends the delivery of the channel, whose events wait from now on; recorded in the audit log.

        Raises NotFound.
        """

        def edit(channel: Channel) -> Channel:
            if not channel.enabled:
                return channel
            return msgspec.structs.replace(channel, disabled_since=self._clock.now(), disabled_reason=reason)

        return await self.resource.change(id, edit, SYSTEM)

    async def enable(self, id: UUID, actor: Actor) -> Channel:
        """Has the channel delivered again. Raises NotFound."""

        def edit(channel: Channel) -> Channel:
            if channel.enabled:
                return channel
            return msgspec.structs.replace(channel, disabled_since=None, disabled_reason=None)

        return await self.resource.change(id, edit, actor)

    async def renew_seals(self) -> Renewal:
        """Seals secrets under the current master key."""
        return await self._sealed.renew()

    async def _check(self, wanted: WantedChannel, opened: Pipeline) -> None:
        errors = name_errors("Name", wanted.name, LONGEST_CHANNEL)
        errors += _option_errors(wanted.options)
        try:
            await opened.check(self._registry, self._guard)
        except Invalid as error:
            errors += error.errors
        if errors:
            raise Invalid(errors)

    async def _drop_subscriptions(self, where: Sequence[Where], actor: Actor) -> None:
        for subscription in await self._subscriptions.decoded(where):
            try:
                await self._store.commit(self._subscriptions.plan_delete(subscription, actor))
            except NotFound:
                continue  # somebody else was quicker

    def _seal(self, id: UUID, secrets: PartSecrets) -> bytes:
        return self._sealed.seal(id, msgspec.json.encode(secrets).decode())

    async def _secrets_of(self, channel: Channel) -> PartSecrets:
        sealed = await self._sealed.open(channel.key)
        return msgspec.json.decode(sealed, type=dict[str, dict[str, str]]) if sealed else _NO_SECRETS


class KnownChannels:
    """Channels as other areas see them; see resource.ports.channels.Channels."""

    def __init__(self, service: ChannelService) -> None:
        self._service = service

    async def named(self, name: str) -> KnownChannel | None:
        if name_errors("name", name):
            return None
        found = await self._service.resource.find("name", name)
        return known(found) if found else None


def known(channel: Channel) -> KnownChannel:
    endpoints = frozenset((endpoint.type or "").casefold() for endpoint in channel.endpoints)
    return KnownChannel(channel.key, channel.name, channel_stream(channel.name), channel.enabled, endpoints)


def missing(name: object) -> NotFound:
    return NotFound.of("channel", name)


def _described(wanted: WantedChannel, pipeline: Pipeline, before: Channel | None) -> Channel:
    start = before or Channel(id=wanted.id or new_id(), name=wanted.name)
    return msgspec.structs.replace(
        start,
        type=wanted.type,
        app_id=wanted.app_id,
        parameters=configuration_object(pipeline.endpoints[0].json_configuration) if wanted.simple else None,
        json_configuration=wanted.options,
        components=list(pipeline.components),
        endpoints=list(pipeline.endpoints),
        description=wanted.description,
        variables=wanted.variables,
    )


def _option_errors(options: str | None) -> Sequence[FieldError]:
    try:
        decode_json((options or "{}").encode(), ChannelOptions)
    except Invalid as error:
        return [FieldError(f"Configuration.{e.field}" if e.field else "Configuration", e.message) for e in error.errors]
    return []
