"""Web jobs without a cron expression as work of agents, which keep them running."""

import hashlib

from penstock.areas.webjobs.checks import arguments_of
from penstock.areas.webjobs.model import UNMATCHED_WEB_JOBS, WEB_JOB_STATES, WEB_JOBS, WebJobEntity
from penstock.connectors.reference import names_in
from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.web_job import WebJobItem, WebJobState
from penstock.resource.assignment_states import AssignmentStates
from penstock.resource.assignments import Assignable, AssignmentBody, AssignmentParts, Assignments
from penstock.resource.coverage import AssignmentCoverage


class WebJobAssignments(Assignments[WebJobEntity]):
    """The stamp follows from what is run, so that nothing else starts it anew."""

    kind = subjects.WEB_JOBS
    noun = "web job"
    collection = WEB_JOBS

    def assignable(self, entity: WebJobEntity) -> Assignable | None:
        """None for one with a cron expression: that is a flow."""
        if entity.cron_expression:
            return None
        item = _item(entity)
        texts = [item.command, *item.arguments, *item.environment.values()]
        stamp = hashlib.blake2b(encode(item), digest_size=16).hexdigest()
        return Assignable(entity.key, entity.known_name, stamp, entity.requirements or (), names_in(texts))

    async def body(self, entity: WebJobEntity) -> AssignmentBody:
        return AssignmentBody(_item(entity))


class WebJobCoverage(AssignmentCoverage):
    """Web jobs that no agent keeps running."""

    notes = UNMATCHED_WEB_JOBS

    def __init__(self, parts: AssignmentParts, assignments: WebJobAssignments) -> None:
        super().__init__(parts, assignments)


class WebJobStates(AssignmentStates[WebJobState]):
    """How web jobs stand on agents."""

    collection = WEB_JOB_STATES
    items = WEB_JOBS
    status = WebJobState


def _item(job: WebJobEntity) -> WebJobItem:
    return WebJobItem(
        name=job.known_name,
        command=job.program,
        arguments=arguments_of(job),
        environment=dict(job.environment),
        package=job.package,
        started=job.is_to_run,
    )
