"""What operators do with file transfers; agents converge to it."""

from collections.abc import Sequence
from uuid import UUID

import msgspec

from penstock.areas.transfers.model import MftIntegration2, MftStorage
from penstock.areas.transfers.states import TransferStates
from penstock.areas.transfers.stored import MFTS, Mft
from penstock.areas.transfers.wanted import errors_of, missing_errors, missing_storages
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, Stale
from penstock.kernel.ids import new_id
from penstock.protocol.work import IntegrationStatusEnum2
from penstock.resource.changes import Changes
from penstock.resource.ports.core_systems import CoreSystems
from penstock.resource.resource import Resource
from penstock.store.store import Store
from penstock.store.write import Write

_TRIES = 10
_WHAT_RUNS = ("command", "schedule", "source", "destination", "requirements", "variables", "args", "filters")


class TransferService:
    """A change of what runs is a new version."""

    def __init__(
        self, store: Store, changes: Changes, clock: Clock, systems: CoreSystems, states: TransferStates
    ) -> None:
        self._mfts = Resource(MFTS, store, changes, clock, kind="file transfer")
        self._clock = clock
        self._systems = systems
        self._states = states

    async def all(self) -> list[Mft]:
        """Newest first."""
        return await self._mfts.decoded()

    async def named(self, name: str) -> Mft:
        """Raises NotFound."""
        return await self._mfts.named(name)

    async def find(self, name: str) -> Mft | None:
        return await self._mfts.find("name", name)

    async def save(self, wanted: MftIntegration2, actor: Actor, if_match: str | None) -> Mft:
        """Makes the transfer, or changes the one of this name. Raises Invalid, Stale."""
        for left in reversed(range(_TRIES)):
            before = await self.find(wanted.name or "")
            if before is None and if_match:
                raise Stale
            missing = missing_errors(await self.missing(wanted))
            after, writes = await self.plan_put(wanted, before, actor, if_match, missing)
            try:
                await self._mfts.commit(writes, after)
            except Stale:
                if if_match or not left:
                    raise
                continue  # somebody else changed it meanwhile: the last one wins
            return after
        raise Stale

    async def missing(self, wanted: MftIntegration2 | Mft) -> dict[str, str]:
        """The core systems that a transfer names and that do not exist: field -> name."""
        return await missing_storages(wanted, self._systems)

    async def plan_put(
        self,
        wanted: MftIntegration2,
        before: Mft | None,
        actor: Actor,
        if_match: str | None = None,
        known: Sequence[FieldError] = (),
    ) -> tuple[Mft, Sequence[Write]]:
        """The transfer as it will be, and the writes that make it so; none when nothing differs.

        The core systems that it names must exist once it is committed. known: what is wrong with it beside what is
        found here. Raises Invalid.
        """
        errors = [*known, *await errors_of(wanted, self._systems)]
        if errors:
            raise Invalid(errors)
        if before is None:
            return self._mfts.plan_create(self._renewed(_described(wanted, None)), actor)
        after = _described(wanted, before)
        if after == before and if_match is None:
            return before, ()
        if _differ(after, before):
            after = self._renewed(msgspec.structs.replace(after, version=str(int(before.version) + 1)))
        elif after.requested_status is not before.requested_status:
            after = self._renewed(after)
        return self._mfts.plan_replace(after, before, actor, if_match=if_match)

    async def start(self, name: str, actor: Actor) -> None:
        """A transfer without schedule runs once, now; one with a schedule runs when it is due. Raises NotFound."""

        def started(mft: Mft) -> Mft:
            if mft.is_started and mft.schedule:
                return mft
            order = mft.order if mft.schedule else new_id()
            return self._renewed(
                msgspec.structs.replace(mft, requested_status=IntegrationStatusEnum2.STARTED, order=order, force=False)
            )

        await self._mfts.change((await self.named(name)).key, started, actor)

    async def run(self, name: str, force: bool, actor: Actor) -> UUID:
        """Orders a run now, on every agent that the transfer matches. Raises NotFound."""
        order = new_id()

        def ordered(mft: Mft) -> Mft:
            renewed = mft if mft.is_started else self._renewed(mft)
            return msgspec.structs.replace(
                renewed, requested_status=IntegrationStatusEnum2.STARTED, order=order, force=force
            )

        await self._mfts.change((await self.named(name)).key, ordered, actor)
        return order

    async def stop(self, name: str, actor: Actor) -> None:
        """Runs under way are ended. Raises NotFound."""

        def stopped(mft: Mft) -> Mft:
            if mft.requested_status is IntegrationStatusEnum2.STOPPED:
                return mft
            return self._renewed(msgspec.structs.replace(mft, requested_status=IntegrationStatusEnum2.STOPPED))

        await self._mfts.change((await self.named(name)).key, stopped, actor)

    async def remove(self, name: str, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""
        mft = await self.named(name)
        await self._mfts.commit(await self.plan_remove(mft, actor, if_match), mft)

    async def plan_remove(self, mft: Mft, actor: Actor, if_match: str | None = None) -> Sequence[Write]:
        """The writes that remove it; its history stays."""
        forgotten = await self._states.plan_remove(mft.key)
        return [*self._mfts.plan_delete(mft, actor, if_match or mft.e_tag), *forgotten]

    async def announce(self, mft: Mft) -> None:
        """Tells of a change, once it is committed."""
        await self._mfts.commit([], mft)

    def _renewed(self, mft: Mft) -> Mft:
        return msgspec.structs.replace(mft, since=self._clock.now())


def _described(wanted: MftIntegration2, before: Mft | None) -> Mft:
    """Everything as wanted; a requested status that is Unknown leaves what was requested."""
    source, destination = _storage(wanted.source), _storage(wanted.destination)
    mft = before or Mft(
        id=new_id(), name=wanted.name or "", command=wanted.command or "", source=source, destination=destination
    )
    requested = wanted.requested_status
    return msgspec.structs.replace(
        mft,
        command=wanted.command or "",
        source=source,
        destination=destination,
        project=wanted.project,
        schedule=" ".join((wanted.schedule or "").split()) or None,
        requested_status=mft.requested_status if requested is IntegrationStatusEnum2.UNKNOWN else requested,
        requirements=wanted.requirements or [],
        variables=wanted.variables,
        args=wanted.args,
        filters=wanted.filters,
        labels=wanted.labels,
        flow_name=wanted.flow_name,
    )


def _storage(storage: MftStorage | None) -> MftStorage:
    assert storage is not None
    return MftStorage(name=storage.name, path=storage.path or "")


def _differ(after: Mft, before: Mft) -> bool:
    return any(getattr(after, field) != getattr(before, field) for field in _WHAT_RUNS)
