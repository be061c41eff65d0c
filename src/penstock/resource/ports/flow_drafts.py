"""Flows that other areas make and then leave to operators."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.kernel.actor import Actor
from penstock.protocol.capability import Requirement


@dataclass(frozen=True)
class FlowDraft:
    """A flow that another area makes and then leaves to operators. spec: Camel YAML DSL. variables: its own."""

    name: str
    spec: str
    variables: Mapping[str, str]
    project: str | None = None
    category: str | None = None
    labels: Sequence[str] = ()
    requirements: Sequence[Requirement] = ()


class FlowDrafts(Protocol):
    """Provided by `flows`."""

    async def save_draft(self, draft: FlowDraft, actor: Actor) -> str:
        """Saves it as an operator would: a new flow, stopped, or the next version. Answers the version.

        Raises Invalid, with the fields of IntegrationFlow; NameTaken when another resource makes the flow.
        """
        ...
