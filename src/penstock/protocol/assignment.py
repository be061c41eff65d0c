"""Work of one kind that agents are to have: asked for, answered page by page, and how it stands reported.

Each kind has a word of its own (`subjects`): agents ask on `ask.<kind>` and for variables on `ask.<kind>-variables`,
and are told of changes on `to.<agent>.<kind>`.
"""

from datetime import datetime
from uuid import UUID

import msgspec

from penstock.kernel.wire import Wire


class AssignmentQuery(Wire):
    """Asks for all items of this agent, in the order of their keys after `after`.

    stamps: of those that the agent has; it needs no items for them.
    """

    after: UUID | None = None
    stamps: dict[str, str] = {}


class AssignmentItem(Wire):
    """One item as an agent is to have it.

    key: stays for as long as the item is there. stamp: differs whenever the agent must learn something new.
    has_secrets: the body holds some that are not variables; the agent keeps it in memory alone.
    body: a Struct of the kind.
    """

    key: UUID
    stamp: str
    has_secrets: bool = False
    body: msgspec.Raw


class AssignmentAnswer(Wire):
    """One page. unchanged: those whose stamps the agent has. next: what to pass as `after`; None on the last one."""

    items: list[AssignmentItem]
    unchanged: list[UUID] = []
    next: UUID | None = None


class AssignmentState(Wire):
    """How one item stands on the reporting agent since `at`. status: a Struct of the kind.

    removed: the agent no longer has it.
    """

    key: UUID
    at: datetime
    status: msgspec.Raw
    removed: bool = False


class AssignmentReport(Wire):
    """Body of `agent.<id>.report.<kind>`, of kinds that report nothing else."""

    states: list[AssignmentState]
