"""Web jobs (specification 1, "Automation resources")."""

from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from uuid import UUID

from penstock.kernel.entity import Entity
from penstock.kernel.wire import Int64, Map, Wire
from penstock.protocol.capability import Requirement
from penstock.protocol.web_job import PREFIX, WebJobPhase
from penstock.resource.assignment_states import states_collection
from penstock.resource.coverage import Unmatched
from penstock.store.definition import Collection, Column, ColumnType

CATEGORY = "WebJob"
LONGEST_NAME = 128 - len(PREFIX)


class WebJobStatus(IntEnum):
    """What an operator asked of a web job. Unknown, in a request: what was asked before."""

    STOPPED = 0
    STARTED = 1
    UNKNOWN = 2


class WebJobEntity(Entity):
    """A web job: a command that agents run when it is due, or keep running when it has no CronExpression.

    Command: a program of the agent, or of the package; without one the program that is called like the package.
    CommandArguments: split as a shell would, without a shell. PackageId, PackageVersion: a Python package that brings
    the program; the newest when no version is given. EnvironmentVariables: texts, numbers, true or false.
    `{{var:NAME}}` in them and in arguments is replaced on the agent; secret variables may stand in
    EnvironmentVariables only. RequestedStatus 0 is Stopped, 1 Started; a web job that is not enabled does not run.
    """

    name: str | None = None
    command: str | None = None
    command_arguments: str | None = None
    package_id: str | None = None
    package_version: str | None = None
    cron_expression: str | None = None
    is_enabled: bool = True
    requirements: list[Requirement] | None = None
    environment_variables: Map | None = None
    requested_status: WebJobStatus = WebJobStatus.UNKNOWN

    @property
    def known_name(self) -> str:
        """Of one that is stored."""
        return self.name or ""

    @property
    def flow(self) -> str:
        """The name of the flow of one with a cron expression; the name that its log lines have in any case."""
        return PREFIX + self.known_name

    @property
    def is_to_run(self) -> bool:
        return self.is_enabled and self.requested_status is WebJobStatus.STARTED

    @property
    def program(self) -> str:
        return self.command or self.package_id or ""

    @property
    def package(self) -> str | None:
        """`name` or `name==version`."""
        if not self.package_id:
            return None
        return f"{self.package_id}=={self.package_version}" if self.package_version else self.package_id

    @property
    def environment(self) -> Mapping[str, str]:
        return {name: text_of(value) for name, value in (self.environment_variables or {}).items() if value is not None}


class WebJobAgentStatus(Wire):
    """How a web job stands on one agent.

    Online: whether the agent is heard now. Status: Scheduled for one with a cron expression whose due times fire;
    Unknown until the agent has told. Starts: how often the agent has started one that it keeps running. ExitCode: of
    its latest end, minus the signal's number when a signal ended it.
    """

    agent_id: UUID
    agent_name: str
    online: bool
    status: WebJobPhase
    since: datetime | None = None
    starts: Int64 = 0
    exit_code: int | None = None
    message: str | None = None


def text_of(value: object) -> str:
    """An environment variable's value as its text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


WEB_JOBS: Collection[WebJobEntity] = Collection(
    "web_jobs", WebJobEntity, (Column("name", lambda job: job.name, ColumnType.KEY, unique=True),)
)
WEB_JOB_STATES = states_collection("web_job_states")
UNMATCHED_WEB_JOBS: Collection[Unmatched] = Collection("unmatched_web_jobs", Unmatched)
