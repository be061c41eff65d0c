"""Endpoints as work of agents."""

from dataclasses import replace

import structlog

from penstock.areas.endpoints.service import EndpointService
from penstock.areas.endpoints.stored import ENDPOINTS, UNMATCHED_ENDPOINTS, StoredEndpoint
from penstock.kernel.wire import encode
from penstock.protocol import subjects
from penstock.protocol.endpoint import EndpointItem, EndpointPackage
from penstock.resource.assignments import Assignable, AssignmentBody, AssignmentParts, Assignments
from penstock.resource.coverage import AssignmentCoverage
from penstock.resource.ports.apis import ApiCatalog, KnownApi
from penstock.resource.secrets import SecretUnreadable

log = structlog.get_logger(__name__)


class EndpointAssignments(Assignments[StoredEndpoint]):
    """Agents get them with the secrets in their configurations, and the package that brings the API now."""

    kind = subjects.ENDPOINTS
    noun = "endpoint"
    collection = ENDPOINTS
    upstream = ("integration_api_packages",)

    def __init__(self, parts: AssignmentParts, endpoints: EndpointService, apis: ApiCatalog) -> None:
        super().__init__(parts)
        self._endpoints = endpoints
        self._apis = apis
        self._known: dict[tuple[str, str], KnownApi | None] = {}

    def assignable(self, entity: StoredEndpoint) -> Assignable:
        return Assignable(entity.key, entity.name, entity.stamp, entity.requirements, entity.references)

    async def refresh(self) -> None:
        used = {(entity.api_name, entity.api_version) for entity in await self.entities()}
        self._known = {each: await self._apis.find(*each) for each in used}

    def current(self, assignable: Assignable, entity: StoredEndpoint) -> Assignable:
        """Another package that brings the same API is another endpoint to agents."""
        api = self._api(entity)
        if api is None:
            return assignable
        package = f"{api.package}=={api.package_version} {api.digest or ''}"
        return replace(assignable, stamp=f"{assignable.stamp} {package}")

    def gives(self, entity: StoredEndpoint) -> bool:
        """Not one whose API is gone."""
        return self._api(entity) is not None

    async def body(self, entity: StoredEndpoint) -> AssignmentBody | None:
        """None when the API is gone, or the secrets cannot be read."""
        api = self._api(entity)
        if api is None:
            log.error("endpoint cannot be given to agents", endpoint=entity.name, reason="its API is gone")
            return None
        try:
            use = await self._endpoints.opened(entity, api)
        except SecretUnreadable as error:
            log.error("endpoint cannot be given to agents", endpoint=entity.name, reason=error.detail)
            return None
        item = EndpointItem(
            name=entity.name,
            route=entity.route,
            api_name=api.name,
            api_version=api.version,
            configuration=encode(use.opened).decode(),
            shown=entity.configuration,
            schema=api.schema,
            package=EndpointPackage(name=api.package, version=api.package_version, digest=api.digest),
        )
        return AssignmentBody(item, has_secrets=bool(use.secrets))

    def _api(self, entity: StoredEndpoint) -> KnownApi | None:
        return self._known.get((entity.api_name, entity.api_version))


class EndpointCoverage(AssignmentCoverage):
    """Endpoints that no agent has."""

    notes = UNMATCHED_ENDPOINTS

    def __init__(self, parts: AssignmentParts, assignments: EndpointAssignments) -> None:
        super().__init__(parts, assignments)
