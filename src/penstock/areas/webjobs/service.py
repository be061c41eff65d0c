"""What is done with web jobs. One with a cron expression makes the flow `webjob-<name>`; others are kept running."""

from collections.abc import Callable, Sequence

import msgspec

from penstock.areas.webjobs.assignments import WebJobStates
from penstock.areas.webjobs.checks import arguments_of, check
from penstock.areas.webjobs.model import CATEGORY, WEB_JOBS, WebJobEntity, WebJobStatus
from penstock.flow.commands.job_flow import job_flow
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid, Stale
from penstock.kernel.ids import new_id
from penstock.resource.answer import Encoded
from penstock.resource.changes import Changes
from penstock.resource.ports.cron_jobs import CronJob
from penstock.resource.ports.generated_flows import GeneratedFlow, GeneratedFlows
from penstock.resource.resource import Resource, last_wins
from penstock.store.store import Store
from penstock.store.write import Write


class WebJobService:
    """A change and what follows from it are one commit."""

    def __init__(
        self, store: Store, changes: Changes, clock: Clock, flows: GeneratedFlows, states: WebJobStates
    ) -> None:
        self._flows = flows
        self._states = states
        self._jobs = Resource(WEB_JOBS, store, changes, clock, kind="web job")

    async def all(self) -> Encoded[list[WebJobEntity]]:
        """Newest first."""
        return await self._jobs.all()

    async def named(self, name: str) -> WebJobEntity:
        """Raises NotFound."""
        return await self._jobs.named(name)

    async def find(self, name: str) -> WebJobEntity | None:
        return await self._jobs.find("name", name)

    async def cron_jobs(self) -> Sequence[CronJob]:
        """See CronJobs."""
        return [
            CronJob(
                name=job.known_name,
                schedule=job.flow,
                flow=job.flow,
                cron=job.cron_expression,
                requirements=job.requirements or (),
                changed=job.update_date or job.created_date,
            )
            for job in await self._jobs.decoded()
            if job.cron_expression
        ]

    async def create(self, wanted: WebJobEntity, actor: Actor) -> WebJobEntity:
        """Raises Invalid, NameTaken."""
        job, writes = await self.plan(wanted, None, actor)
        await self._commit(writes, job)
        return job

    async def replace(self, wanted: WebJobEntity, actor: Actor, if_match: str | None) -> WebJobEntity:
        """The one of the Id, or else of the name. Raises NotFound, Invalid, Stale."""
        return await self._change(wanted, lambda before: wanted, actor, if_match or wanted.e_tag)

    async def request(self, name: str, status: WebJobStatus, actor: Actor) -> None:
        """Asks for it to be started or stopped. Raises NotFound."""
        job = await self.named(name)
        await self._change(
            job, lambda before: msgspec.structs.replace(before, requested_status=status, e_tag=None), actor, None
        )

    async def remove(self, name: str, actor: Actor, if_match: str | None) -> None:
        """Raises NotFound, Stale."""

        async def attempt() -> None:
            job = await self.named(name)
            if if_match is not None and if_match != job.e_tag:
                raise Stale
            await self._commit(await self.plan_remove(job, actor), job)

        await last_wins(attempt, if_match)

    async def plan(
        self, wanted: WebJobEntity, before: WebJobEntity | None, actor: Actor, if_match: str | None = None
    ) -> tuple[WebJobEntity, Sequence[Write]]:
        """The web job as it will be, and the writes that make it and its flow so; none when nothing differs.

        Raises Invalid, NameTaken.
        """
        check(wanted)
        if before is None:
            new = msgspec.structs.replace(_described(wanted, wanted), id=wanted.id or new_id())
            job, writes = self._jobs.plan_create(new, actor)
            return job, [*writes, *await self._plan_flow(job, None, actor)]
        if (wanted.name or "").casefold() != before.known_name.casefold():
            raise Invalid.one("Name", f"must stay '{before.known_name}': its flow and its log have that name")
        after = _described(before, wanted)
        flow = await self._plan_flow(after, before, actor)
        if after == before and not if_match:
            return before, flow
        job, writes = self._jobs.plan_replace(after, before, actor, if_match=if_match)
        return job, [*writes, *flow]

    async def plan_remove(self, job: WebJobEntity, actor: Actor) -> Sequence[Write]:
        return [
            *self._jobs.plan_delete(job, actor, job.e_tag),
            *await self._states.plan_remove(job.key),
            *(await self._flows.plan_remove(job.flow, actor) if job.cron_expression else ()),
        ]

    async def announce(self, job: WebJobEntity) -> None:
        """Tells of a change, once it is committed."""
        await self._flows.announce(job.flow)
        await self._jobs.commit([], job)

    async def _change(
        self,
        which: WebJobEntity,
        edit: Callable[[WebJobEntity], WebJobEntity],
        actor: Actor,
        if_match: str | None,
    ) -> WebJobEntity:

        async def attempt() -> WebJobEntity:
            before = await (self._jobs.get(which.id) if which.id is not None else self.named(which.known_name))
            if if_match is not None and if_match != before.e_tag:
                raise Stale
            job, writes = await self.plan(edit(before), before, actor, if_match)
            await self._commit(writes, job)
            return job

        return await last_wins(attempt, if_match)

    async def _plan_flow(self, job: WebJobEntity, before: WebJobEntity | None, actor: Actor) -> Sequence[Write]:
        if job.cron_expression:
            return await self._flows.plan_put(_flow(job, job.cron_expression), actor)
        if before is not None and before.cron_expression:
            return await self._flows.plan_remove(before.flow, actor)
        return ()

    async def _commit(self, writes: Sequence[Write], job: WebJobEntity) -> None:
        if writes:
            await self._jobs.commit(writes, job)
            await self._flows.announce(job.flow)


def _described(base: WebJobEntity, wanted: WebJobEntity) -> WebJobEntity:
    """What is wanted, in place of `base`, with its name as it is written there."""
    requested = wanted.requested_status
    if requested is WebJobStatus.UNKNOWN:
        requested = base.requested_status if base.requested_status is not requested else WebJobStatus.STOPPED
    cron = wanted.cron_expression
    return msgspec.structs.replace(
        base,
        command=wanted.command or None,
        command_arguments=wanted.command_arguments or None,
        package_id=wanted.package_id or None,
        package_version=wanted.package_version or None,
        cron_expression=" ".join(cron.split()) if cron else None,
        is_enabled=wanted.is_enabled,
        requirements=wanted.requirements,
        environment_variables=wanted.environment_variables,
        requested_status=requested,
        time_to_live=wanted.time_to_live,
    )


def _flow(job: WebJobEntity, cron: str) -> GeneratedFlow:
    return GeneratedFlow(
        name=job.flow,
        category=CATEGORY,
        spec=job_flow(job.flow, cron, job.program, arguments_of(job), job.environment, job.package),
        requirements={each.identifier or "": each.value or "" for each in job.requirements or ()},
        schedule=job.flow,
        cron=cron,
        started=job.is_to_run,
    )
