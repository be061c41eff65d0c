"""Operations that save flows, and on the versions that saving makes."""

from collections.abc import Sequence

from penstock.areas.flows.model import Flow, IntegrationFlow
from penstock.areas.flows.saving import FlowSaving, e_tag_of
from penstock.areas.flows.version import FlowVersionDto, FlowVersions
from penstock.kernel.actor import Actor, Role
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded
from penstock.resource.operation import MIB, operation
from penstock.resource.page import DEFAULT, PageSize, Skip
from penstock.resource.parameter import Body, IfMatch

_LARGEST = 16 * MIB


class FlowSavingOperations:
    """Each save is a new version; earlier ones are kept."""

    def __init__(self, saving: FlowSaving, versions: FlowVersions) -> None:
        self._saving = saving
        self._versions = versions

    @operation("PUT", "/integrations/flows", Role.OPERATOR, status=201, limit=_LARGEST)
    async def save(self, flow: Body[IntegrationFlow], actor: Actor, if_match: IfMatch) -> Encoded[IntegrationFlow]:
        """Save a flow as its next version. A new flow is stopped; one that runs goes on with the new version.

        Replaces all of the flow: what is left out is gone. A mistake in FlowSpec is told with its line, column and
        element. A flow that a Schedule makes is refused (409); it is changed by changing the Schedule.
        """
        return await self._saved(await self._saving.save(flow, actor, if_match=if_match))

    @operation("POST", "/integrations/flows", Role.OPERATOR, status=202, limit=_LARGEST)
    async def save_and_start(
        self, flow: Body[IntegrationFlow], actor: Actor, if_match: IfMatch
    ) -> Encoded[IntegrationFlow]:
        """Save a flow as its next version, and request that it runs on every agent that it matches."""
        return await self._saved(await self._saving.save(flow, actor, start=True, if_match=if_match))

    @operation("GET", "/integrations/flows/{integrationName}/versions", Role.READER, beyond=True)
    async def versions(
        self, integration_name: str, count: PageSize = DEFAULT, skip: Skip = 0
    ) -> Sequence[FlowVersionDto]:
        """List the versions of a flow, the latest first."""
        return await self._versions.of(await self._saving.named(integration_name), count, skip)

    @operation("GET", "/integrations/flows/{integrationName}/versions/{version}", Role.READER, beyond=True)
    async def version(self, integration_name: str, version: str) -> IntegrationFlow:
        """Get a flow as a version of it was saved."""
        saved = await self._versions.get(await self._saving.named(integration_name), version)
        return await self._saving.content(saved)

    @operation(
        "POST",
        "/integrations/flows/{integrationName}/versions/{version}/restore",
        Role.OPERATOR,
        status=201,
        beyond=True,
    )
    async def restore(
        self, integration_name: str, version: str, actor: Actor, if_match: IfMatch
    ) -> Encoded[IntegrationFlow]:
        """Save an earlier version again, as the latest one. Whether the flow is to run stays as it is."""
        return await self._saved(await self._saving.restore(integration_name, version, actor, if_match))

    async def _saved(self, flow: Flow) -> Encoded[IntegrationFlow]:
        return Encoded(encode(await self._saving.content(flow)), e_tag_of(flow))
