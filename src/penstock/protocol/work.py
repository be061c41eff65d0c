"""Desired state: what an agent asks the servers for, and what they answer.

The agent compares the digest with what it runs and asks for the items whose stamp differs.
"""

from datetime import datetime
from enum import IntEnum

from penstock.kernel.wire import Int64, Map, Wire


class IntegrationStatusEnum2(IntEnum):
    """What an operator asked of a flow."""

    STOPPED = 0
    STARTED = 1
    UNKNOWN = 2


class DigestQuery(Wire):
    """Asks for the names of all work of this agent, in name order after `after`."""

    after: str | None = None


class DigestEntry(Wire):
    """stamp changes whenever the item does."""

    name: str
    stamp: str


class Digest(Wire):
    """One page. next: what to pass as `after`; None when it is the last."""

    entries: list[DigestEntry]
    next: str | None = None


class WorkQuery(Wire):
    """Asks for items by name; one that the answer lacks is no longer this agent's."""

    names: list[str]


class FlowFile(Wire):
    """A file beside a flow. sha256: of its content in UTF-8, hexadecimal. size: bytes."""

    name: str
    sha256: str
    size: Int64


class WorkItem(Wire, omit_defaults=True):
    """A flow as an agent is to have it.

    spec: Camel YAML DSL. since: when this version or request was made, or the flow became this agent's if that was
    later; the agent accounts for every due time after it.
    schedule: name of the Schedule that generated the flow, if one did.
    variables: the flow's own, which come before those of the platform.
    files: asked for one by one (FileQuery), since they may be large. packages: what the flow needs beside the engine.

    What is not there is left out, so that an agent of an earlier release can read it.
    """

    name: str
    stamp: str
    version: str
    requested: IntegrationStatusEnum2
    since: datetime
    spec: str
    schedule: str | None = None
    variables: Map | None = None
    files: list[FlowFile] = []
    packages: str | None = None


class FileQuery(Wire):
    """Asks for a piece of a file that the agent's work has. number: counts the pieces from 0."""

    sha256: str
    number: int


class FileAnswer(Wire):
    """content: the piece; None when there is no such piece, or the file is not of this agent's work."""

    content: bytes | None = None


class WorkAnswer(Wire):
    """The items asked for, as many as fit; the agent asks again for the others listed in `left`.

    ended: of names that are not this agent's work any more since when, where the servers know.
    """

    items: list[WorkItem]
    left: list[str]
    ended: dict[str, datetime] = {}


class VariableQuery(Wire):
    """Asks for the values of variables that the agent's work refers to."""

    names: list[str]


class VariableValue(Wire):
    value: str
    is_secret: bool


class VariableAnswer(Wire):
    """Values by the names asked for; a name without a value is absent."""

    values: dict[str, VariableValue]
