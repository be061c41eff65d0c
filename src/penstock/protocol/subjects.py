"""The subjects that servers and agents meet on. An agent may publish below `agent.<its id>.` and read `to.<its id>.`"""

from uuid import UUID

REPORT_STREAM = "AGENTS"
SERVERS = "servers"
"""Queue group of the server replicas: each request is answered by one of them."""

PING = "ping"
DIGEST = "digest"
WORK = "work"
VARIABLES = "variables"
FILES = "files"
SCHEDULES = "schedules"
FLOWS = "flows"
LOGS = "logs"
EVENTS = "events"
SOURCES = "sources"
WEB_JOBS = "webjobs"
TRANSFERS = "transfers"
ENDPOINTS = "endpoints"
REPORT_KINDS = (SCHEDULES, FLOWS, LOGS, WEB_JOBS, EVENTS, TRANSFERS, ENDPOINTS)
"""What is taken into the stream of reports; a kind that nobody consumes would fill it."""


def report(agent: UUID | str, kind: str) -> str:
    """Where an agent reports; `*` as agent is every agent."""
    return f"agent.{agent}.report.{kind}"


def ask(agent: UUID | str, what: str) -> str:
    """Where an agent asks the servers."""
    return f"agent.{agent}.ask.{what}"


def ping(agent: UUID | str) -> str:
    return f"agent.{agent}.{PING}"


def changed(agent: UUID | str) -> str:
    """Where servers tell an agent that its work changed; body: names, one per line, or nothing for all."""
    return f"to.{agent}.changed"


def variables_of(kind: str) -> str:
    """What an agent asks for the variables that its work of a kind refers to."""
    return f"{kind}-{VARIABLES}"


def assigned(agent: UUID | str, kind: str) -> str:
    """Where servers tell an agent that its work of a kind changed, no body; `*` as kind is every notice to it."""
    return f"to.{agent}.{kind}"


def kind_of(notice: str) -> str:
    """The last word of a notice's subject: the kind of work that changed."""
    return notice.rsplit(".", 1)[1]


def inbox(agent: UUID | str) -> str:
    """Prefix of an agent's reply subjects."""
    return f"_INBOX.{agent}"


GATEWAYS_CHANGED = "to.gateways.changed"
"""Where servers tell every gateway that its table changed, no body."""

GATEWAY_STREAM = "GATEWAYS"
USAGE = "usage"
STANDING = "standing"
CALLS = "calls"
TABLE = "table"


def gateway_ask(gateway: str, what: str) -> str:
    """Where a gateway asks the servers; `*` as gateway is every one."""
    return f"gateway.{gateway}.ask.{what}"


def gateway_report(gateway: str, kind: str) -> str:
    """Where a gateway reports."""
    return f"gateway.{gateway}.report.{kind}"


def gateway_of(subject: str) -> str:
    """The gateway that a question or a report belongs to."""
    return subject.split(".")[1]


def agent_of(subject: str) -> UUID:
    """The agent that a report, request or ping subject belongs to. Raises ValueError."""
    return UUID(subject.split(".")[1])


def schedule_stream(schedule: str) -> str:
    """The message stream of a schedule."""
    return f"schedule-{schedule}"


def stream_subject(stream: str) -> str:
    """Where messages of a platform stream are published."""
    return f"stream.{stream}"


_OWN = frozenset({"agent", "gateway", "to", "changed", "due", "event", "stream"})


def is_platforms_own(subject: str) -> bool:
    """Whether the platform or the bus itself uses the subject; nobody else may be sent there."""
    first = subject.split(".")[0]
    return first in _OWN or first.startswith(("$", "_"))
