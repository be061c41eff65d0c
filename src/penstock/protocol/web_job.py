"""Web jobs that agents keep running: what they are to run, and how it stands."""

from datetime import datetime
from enum import StrEnum

from penstock.kernel.wire import Int64, Wire

PREFIX = "webjob-"
"""Before a web job's name: what its log lines, and the flow of one with a cron expression, are called."""
LOG_TYPE = "webjob"


class WebJobItem(Wire):
    """A web job as an agent is to have it. `{{var:NAME}}` is replaced when it starts.

    command: the program. arguments: each exactly; secret variables may stand in `environment` only.
    package: which brings the program, as `name` or `name==version`; None for one that the agent has.
    started: whether it is to run.
    """

    name: str
    command: str
    arguments: list[str]
    environment: dict[str, str]
    package: str | None = None
    started: bool


class WebJobPhase(StrEnum):
    """What a web job does on an agent.

    Scheduled: its due times fire. Waiting: it ended and is started again soon. Error: it goes on failing.
    """

    UNKNOWN = "Unknown"
    SCHEDULED = "Scheduled"
    STARTING = "Starting"
    RUNNING = "Running"
    WAITING = "Waiting"
    ERROR = "Error"
    STOPPED = "Stopped"


class WebJobState(Wire):
    """How a web job stands on an agent.

    since: when it came to this. starts: how often it was started since the agent has it.
    exit_code: of its latest end, minus the signal's number when a signal ended it. message: why, in words.
    """

    phase: WebJobPhase
    since: datetime
    starts: Int64 = 0
    exit_code: int | None = None
    message: str | None = None
