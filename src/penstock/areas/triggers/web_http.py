"""Operations on web triggers and notebook endpoints, and their routes."""

from uuid import UUID

from penstock.areas.triggers.model import NotebookEndpoint, RouteAccess, WantedAccess, WebTrigger
from penstock.areas.triggers.notebook_endpoints import NotebookEndpointService
from penstock.areas.triggers.web_request import WebRequest
from penstock.areas.triggers.web_runs import WebRuns
from penstock.areas.triggers.web_triggers import WebTriggerService
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import File
from penstock.resource.call import Call
from penstock.resource.operation import MIB, Answer, operation
from penstock.resource.parameter import Body, IfMatch
from penstock.resource.run_values import RUN_HEADER

_ADDRESS = "/web/{route}"
# A page that a script makes must not act as the console, which is of the same origin.
_SANDBOX = ("content-security-policy", "sandbox allow-scripts allow-forms")


class WebTriggerOperations:
    """Web triggers run an action for each request to their route."""

    def __init__(self, service: WebTriggerService) -> None:
        self._service = service

    @operation("GET", "/automation/triggers/web/{id}", Role.READER)
    async def get_web_trigger(self, id: UUID) -> WebTrigger:
        """Get a web trigger."""
        return (await self._service.get(id)).shown()

    @operation("DELETE", "/automation/triggers/web/{id}", Role.OPERATOR)
    async def delete_web_trigger(self, id: UUID, actor: Actor, if_match: IfMatch) -> File:
        """Delete a web trigger. Its route is free at once; runs in progress go on."""
        await self._service.routed.delete(id, actor, if_match)
        return File()

    @operation("PUT", "/automation/triggers/web/{id}", Role.OPERATOR)
    async def save_web_trigger(
        self, id: UUID, trigger: Body[WebTrigger], actor: Actor, if_match: IfMatch
    ) -> WebTrigger:
        """Replace a web trigger. Its secret stays while it is of TriggerType `secret`."""
        return await self._service.save(id, trigger, actor, if_match)

    @operation("GET", "/automation/triggers/web", Role.READER)
    async def list_web_triggers(self) -> list[WebTrigger]:
        """List web triggers, newest first."""
        return await self._service.all()

    @operation("POST", "/automation/triggers/web", Role.OPERATOR)
    async def create_web_trigger(self, trigger: Body[WebTrigger], actor: Actor) -> WebTrigger:
        """Create a web trigger.

        TriggerType says who may call: `secret`, which it is unless given, or `open`. The secret is made by
        `PUT /automation/triggers/web/{id}/access`; nobody can call before. A Route is one segment of a path; one that
        another web trigger or notebook endpoint has answers 409.
        """
        return await self._service.create(trigger, actor)

    @operation("GET", "/automation/triggers/web/find", Role.READER)
    async def find_web_triggers(self, action_id: UUID) -> list[WebTrigger]:
        """List the web triggers of an action, newest first."""
        return await self._service.all(action_id)

    @operation("PUT", "/automation/triggers/web/{id}/enabled", Role.OPERATOR)
    async def toggle_web_trigger(self, id: UUID, actor: Actor) -> WebTrigger:
        """Enable a web trigger that is not enabled, disable one that is."""
        return await self._service.toggle(id, actor)

    @operation("PUT", "/automation/triggers/web/{id}/access", Role.OPERATOR, beyond=True)
    async def set_web_trigger_access(self, id: UUID, access: Body[WantedAccess], actor: Actor) -> RouteAccess:
        """Say who may call a web trigger. With `secret` a new one is made, and answered this once."""
        return await self._service.routed.set_access(id, access.access, actor)


class NotebookEndpointOperations:
    """Notebook endpoints run a notebook for each request to their route."""

    def __init__(self, service: NotebookEndpointService) -> None:
        self._service = service

    @operation("GET", "/automation/notebook/endpoint/{id}", Role.READER)
    async def get_notebook_endpoints(self, id: UUID) -> list[NotebookEndpoint]:
        """List the endpoints of a notebook, newest first; with the id of an endpoint, that one."""
        return await self._service.of(id)

    @operation("DELETE", "/automation/notebook/endpoint/{id}", Role.OPERATOR)
    async def delete_notebook_endpoint(self, id: UUID, actor: Actor, if_match: IfMatch) -> File:
        """Delete a notebook endpoint. Its route is free at once; runs in progress go on."""
        await self._service.routed.delete(id, actor, if_match)
        return File()

    @operation("PUT", "/automation/notebook/endpoint/{id}", Role.OPERATOR)
    async def save_notebook_endpoint(
        self, id: UUID, endpoint: Body[NotebookEndpoint], actor: Actor, if_match: IfMatch
    ) -> NotebookEndpoint:
        """Replace a notebook endpoint. Who may call stays."""
        return await self._service.save(id, endpoint, actor, if_match)

    @operation("GET", "/automation/notebook/endpoint", Role.READER)
    async def list_notebook_endpoints(self) -> list[NotebookEndpoint]:
        """List notebook endpoints, newest first."""
        return await self._service.all()

    @operation("POST", "/automation/notebook/endpoint", Role.OPERATOR)
    async def create_notebook_endpoint(self, endpoint: Body[NotebookEndpoint], actor: Actor) -> NotebookEndpoint:
        """Create a notebook endpoint, which answers at `/web/{Route}` whom `PUT .../access` allows.

        Callers need a secret, which that operation makes; nobody can call before. EndpointId is the endpoint's Id,
        whatever is given.
        """
        return await self._service.create(endpoint, actor)

    @operation("PUT", "/automation/notebook/endpoint/{id}/access", Role.OPERATOR, beyond=True)
    async def set_notebook_endpoint_access(self, id: UUID, access: Body[WantedAccess], actor: Actor) -> RouteAccess:
        """Say who may call a notebook endpoint. With `secret` a new one is made, and answered this once."""
        return await self._service.routed.set_access(id, access.access, actor)


class WebRouteOperations:
    """The routes of web triggers and notebook endpoints."""

    def __init__(self, runs: WebRuns) -> None:
        self._runs = runs

    @operation("GET", _ADDRESS, beyond=True, any_query=True)
    @operation("POST", _ADDRESS, beyond=True, any_query=True)
    @operation("PUT", _ADDRESS, beyond=True, any_query=True)
    @operation("PATCH", _ADDRESS, beyond=True, any_query=True)
    @operation("DELETE", _ADDRESS, beyond=True, any_query=True)
    async def call_web_route(self, route: str, call: Call) -> Answer:
        """Run the action or notebook that serves a route, with what the request has for its parameters.

        These are the fields of a JSON object or form in the body, those of the query, the whole body as `body`, and
        `method`. The route's secret, where it needs one, comes in X-Trigger-Secret or as a bearer token. Answered is
        the result in its media type, or the one that Accept names; the header Penstock-Run has the id of the run. One
        that takes longer than is waited for answers 504 and goes on.
        """
        served = await self._runs.served(route)
        served.check(call.headers)
        content_type = call.headers.get("content-type", "")
        request = WebRequest(call.method, call.query, content_type, await call.read(MIB))
        result = await self._runs.run(served, request, _preferred(call.headers.get("accept", "")))
        answer = result.answer
        return Answer(200, answer.body, answer.media_type, ((RUN_HEADER, str(result.run_id)), _SANDBOX))


def _preferred(accept: str) -> str | None:
    """The one media type that is accepted; None when there are several."""
    media_type = accept.partition(";")[0].strip().lower()
    return media_type if media_type and not set(accept) & set(",*") else None
