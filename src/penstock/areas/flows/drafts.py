"""Flows that other areas save as operators do."""

from penstock.areas.flows.model import IntegrationFlow
from penstock.areas.flows.saving import FlowSaving
from penstock.kernel.actor import Actor
from penstock.resource.ports.flow_drafts import FlowDraft


class FlowDraftService:
    """See FlowDrafts."""

    def __init__(self, saving: FlowSaving) -> None:
        self._saving = saving

    async def save_draft(self, draft: FlowDraft, actor: Actor) -> str:
        """See FlowDrafts."""
        flow = IntegrationFlow(
            name=draft.name,
            project=draft.project,
            flow_spec=draft.spec,
            variables=dict(draft.variables) or None,
            category=draft.category,
            labels=list(draft.labels),
            requirements=list(draft.requirements),
        )
        return (await self._saving.save(flow, actor)).version
