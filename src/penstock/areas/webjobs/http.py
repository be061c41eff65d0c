"""Operations on web jobs."""

from collections.abc import Sequence

from penstock.areas.webjobs.model import WebJobAgentStatus, WebJobEntity, WebJobStatus
from penstock.areas.webjobs.overview import WebJobOverview
from penstock.areas.webjobs.service import WebJobService
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch


class WebJobOperations:
    """Commands that agents run when they are due, or keep running."""

    def __init__(self, service: WebJobService, overview: WebJobOverview) -> None:
        self._service = service
        self._overview = overview

    @operation("GET", "/automation/webjob", Role.READER)
    async def list(self) -> Encoded[list[WebJobEntity]]:
        """List the web jobs, newest first."""
        return await self._service.all()

    @operation("GET", "/automation/webjob/{name}", Role.READER)
    async def get(self, name: str) -> WebJobEntity:
        """Get a web job. Its name is compared without case."""
        return await self._service.named(name)

    @operation("POST", "/automation/webjob", Role.OPERATOR)
    async def create(self, job: Body[WebJobEntity], actor: Actor) -> WebJobEntity:
        """Make a web job.

        It is stopped unless RequestedStatus is 1. Keep secrets in variables and write `{{var:NAME}}`: whoever may
        read web jobs sees EnvironmentVariables as they are.
        """
        return await self._service.create(job, actor)

    @operation("PUT", "/automation/webjob", Role.OPERATOR)
    async def update(self, job: Body[WebJobEntity], actor: Actor, if_match: IfMatch) -> WebJobEntity:
        """Replace the web job of this Id, or else of this Name, which stays.

        A process that is kept running is started anew when anything about it changes. RequestedStatus 2, or none,
        keeps what was requested.
        """
        return await self._service.replace(job, actor, if_match)

    @operation("DELETE", "/automation/webjob/{name}", Role.OPERATOR)
    async def remove(self, name: str, actor: Actor, if_match: IfMatch) -> File:
        """Remove a web job. Agents end its process; what it logged stays."""
        await self._service.remove(name, actor, if_match)
        return File()

    @operation("POST", "/automation/webjob/start/{name}", Role.OPERATOR)
    async def start(self, name: str, actor: Actor) -> File:
        """Ask for a web job to be started, or its due times to fire. Answers at once; agents follow."""
        await self._service.request(name, WebJobStatus.STARTED, actor)
        return File()

    @operation("POST", "/automation/webjob/stop/{name}", Role.OPERATOR)
    async def stop(self, name: str, actor: Actor) -> File:
        """Ask for a web job to be stopped. Answers at once; agents follow."""
        await self._service.request(name, WebJobStatus.STOPPED, actor)
        return File()

    @operation("GET", "/automation/webjob/{name}/status", Role.READER, beyond=True)
    async def status(self, name: str) -> Sequence[WebJobAgentStatus]:
        """List the agents that meet a web job's requirements, with how it stands on each."""
        return await self._overview.of(name)
